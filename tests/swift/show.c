/*
 * Writes the stack of the caller, or of a suspended task, and what the caller says of it: STACK.N, CALLS.N. MAPS and IMAGES
 * have the modules.
 * With SWIFT_CRASH in the environment show_stack() crashes instead, and the report is in STACK.1.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sframe_backtrace.h>
#include <sframe_backtrace_crash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "w");

    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        perror(name);
}

static void crash(void)
{
    struct sframe_backtrace_crash_options options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;

    options.fd = open("STACK.1", O_CREAT | O_TRUNC | O_WRONLY, 0666);
    options.flags = SFRAME_BACKTRACE_ASYNC;
    if (options.fd >= 0 && sframe_backtrace_install_crash_handler(&options) == SFB_OK)
        *(volatile int *)8 = 1;
}

/* Writes the stack of that number, what it should have, and the modules. */
static void write_stack(const char *calls, const struct sframe_backtrace_options *options)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static char text[1 << 16], images[1 << 14];
    static unsigned number;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    unsigned char stack[2048];
    char name[32];
    ssize_t size;
    FILE *maps;

    pthread_mutex_lock(&one_at_a_time);
    size = sframe_backtrace_cbf(stack, sizeof stack, options, &info);
    if (size < 0 || info.end != SFB_END)
        printf("%s: %s\n", calls, sfb_status_str(size < 0 ? (enum sfb_status) - size : info.end));
    snprintf(name, sizeof name, "STACK.%u", ++number);
    write_file(name, stack, size < 0 ? 0 : (size_t)size);
    snprintf(name, sizeof name, "CALLS.%u", number);
    write_file(name, calls, strlen(calls));
    maps = fopen("/proc/self/maps", "r");
    write_file("MAPS", text, maps ? fread(text, 1, sizeof text, maps) : 0);
    if (maps)
        fclose(maps);
    size = sframe_backtrace_image_map(images, sizeof images, NULL);
    write_file("IMAGES", images, size < 0 ? 0 : (size_t)size);
    pthread_mutex_unlock(&one_at_a_time);
}

void show_stack(const char *calls)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;

    if (getenv("SWIFT_CRASH")) {
        write_file("CALLS.1", calls, strlen(calls));
        crash();
    }
    options.flags = SFRAME_BACKTRACE_ASYNC;
    write_stack(calls, &options);
}

void show_suspended(const void *task, const char *calls)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;

    options.flags = SFRAME_BACKTRACE_ASYNC | SFRAME_BACKTRACE_SUSPENDED;
    options.coroutine = task;
    write_stack(calls, &options);
}
