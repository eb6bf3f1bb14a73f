/*
 * Dies as it is told to, with the crash handler's report on stdout: core_program null|thread|handler|abort|divide|vdso|library; or, for gcore,
 * says that it waits, and waits: core_program wait.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "sframe_backtrace_crash.h"

#define APART                                                                                      \
    __attribute__((noinline, used,                                                                 \
                   no_sanitize("undefined", "address", "thread"))) /* it shall die */

static volatile int zero, sink;
static char byte;

APART static void inner(const char *how)
{
    if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "divide") == 0)
        sink = 1000 / zero; /* 1 would be compared, not divided */
    else if (strcmp(how, "vdso") == 0)
        clock_gettime(CLOCK_MONOTONIC, (struct timespec *)(uintptr_t)(16 + zero));
    else if (strcmp(how, "wait") == 0)
        sink = (int)read(STDIN_FILENO, &byte, 1);
    else
        *(volatile int *)(uintptr_t)(16 + zero) = 1;
    sink++;
}

APART static void outer(const char *how, int depth)
{
    if (depth > 0)
        outer(how, depth - 1);
    else
        inner(how);
    sink++;
}

/* A function that a library calls: of the library a link was loaded, libz.so.1. */
static voidpf allocate(voidpf how, uInt items, uInt size)
{
    (void)items;
    (void)size;
    outer(how, 0);
    return NULL;
}

static void handle(int number)
{
    (void)number;
    outer("null", 2);
}

/* Until the first thread waits for this one. */
static void wait_for_first(void)
{
    char path[64], call[32], now[32] = "";
    const size_t size = (size_t)snprintf(call, sizeof call, "%d 0x", (int)SYS_futex);

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)getpid());
    while (strncmp(now, call, size) != 0) {
        FILE *file = fopen(path, "r");

        if (!file)
            return;
        if (!fgets(now, sizeof now, file))
            now[0] = '\0';
        fclose(file);
    }
}

static void *run(void *how)
{
    if (strcmp(how, "thread") == 0)
        wait_for_first();
    if (strcmp(how, "handler") == 0)
        raise(SIGUSR1);
    if (strcmp(how, "library") == 0) {
        z_stream stream = { .zalloc = allocate, .opaque = how };

        inflateInit(&stream);
    }
    outer(how, 3);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sframe_backtrace_crash_options options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;
    char null[] = "null", *how = argc > 1 ? argv[1] : null;
    pthread_t thread;

    options.fd = STDOUT_FILENO;
    if (sframe_backtrace_install_crash_handler(&options) != SFB_OK ||
        signal(SIGUSR1, handle) == SIG_ERR)
        return 2;
    if (strcmp(how, "wait") == 0) {
        printf("there\n");
        fflush(stdout);
    }
    if (strcmp(how, "thread") != 0)
        run(how);
    else if (pthread_create(&thread, NULL, run, how) == 0)
        pthread_join(thread, NULL);
    return 0;
}
