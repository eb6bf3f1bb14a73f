/* Libraries that come and go. */
#include <dlfcn.h>
#include <iconv.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/record/burn.h"
#include "profiler/tests/record/program.h"
#include "support/agent_memory.h"

typedef void work_function(unsigned ms);

static work_function *work_of(void *handle)
{
    void *address = dlsym(handle, "work_in_library");
    work_function *work;

    memcpy(&work, &address, sizeof work);
    return work;
}

/*
 * Works until the agent has written a list that has this library: where the recorder is slow to take the one before, it is
 * not written at once.
 */
static void work_until_it_is_listed(const char *file)
{
    const struct sfb_shared_process *process = memory_process();
    const size_t size = strlen(file);
    uint32_t bytes;

    do {
        burn_ms(1);
        bytes = process ? __atomic_load_n(&process->modules_size, __ATOMIC_ACQUIRE) : 0;
    } while (process &&
             (bytes > sizeof process->modules || !memmem(process->modules, bytes, file, size)));
}

/* Lines "NAME BASE START END": what works when, CLOCK_MONOTONIC in ns. */
static int work_in(const char *path, const char *name, unsigned ms)
{
    void *handle = dlopen(path, RTLD_NOW);
    struct link_map *map;
    char file[32];
    uint64_t start;

    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return 1;
    snprintf(file, sizeof file, "record-%s.so", name);
    work_until_it_is_listed(file);
    start = cpu_of(CLOCK_MONOTONIC);
    work_of(handle)(ms);
    printf("%s %llx %llu %llu\n", name, (unsigned long long)map->l_addr, (unsigned long long)start,
           (unsigned long long)cpu_of(CLOCK_MONOTONIC));
    return dlclose(handle);
}

/* swap COUNT MS: two libraries in turn, by their paths */
static int swap(char *words[])
{
    for (int i = 0; i < atoi(words[0]); i++)
        if (work_in(i % 2 ? SFB_RECORD_LIBRARY_B : SFB_RECORD_LIBRARY_A, i % 2 ? "b" : "a",
                    (unsigned)atoi(words[1])) != 0)
            return 1;
    return 0;
}

/* runpath MS: by a bare name that only this program's RUNPATH finds, and by $ORIGIN */
static int by_runpath(char *words[])
{
    if (work_in("librecord-a.so", "a", (unsigned)atoi(words[0])) != 0)
        return 1;
    return work_in("$ORIGIN/record-libs/librecord-a.so", "a", (unsigned)atoi(words[0])) != 0;
}

/* What dlerror() says is what it would say; the program's own handle is NULL's. */
static int errors(char *words[])
{
    const char *text;

    (void)words;
    if (dlopen("/nonexistent/lib.so", RTLD_NOW) || !(text = dlerror()) ||
        !strstr(text, "/nonexistent/lib.so") || dlerror())
        return 1;
    if (dlopen("nonexistent.so", RTLD_NOW) || !(text = dlerror()) ||
        !strstr(text, "nonexistent.so"))
        return 1;
    return dlopen(NULL, RTLD_NOW) == NULL;
}

static const char go_on;

static void *opens_and_closes(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10; i++) {
        void *handle = dlopen(SFB_RECORD_LIBRARY_A, RTLD_NOW);

        if (!handle || dlclose(handle) != 0)
            return NULL;
    }
    return (void *)(uintptr_t)&go_on; /* it came to its end */
}

/* dlopen() and dlclose() are no cancellation points. */
static int cancelled(char *words[])
{
    for (int i = 0; i < atoi(words[0]); i++) {
        pthread_t thread;
        void *result;

        if (pthread_create(&thread, NULL, opens_and_closes, NULL) != 0 ||
            pthread_cancel(thread) != 0 || pthread_join(thread, &result) != 0 ||
            result != (void *)(uintptr_t)&go_on)
            return 1;
    }
    return 0;
}

/* The C library opens the converter itself. Status 77: there is none here. */
static int converts(char *words[])
{
    iconv_t converter;

    (void)words;
    work_until_it_is_listed("libc.so"); /* the first list has what is there by then */
    converter = iconv_open("UTF-8", "EUC-JP");
    if (converter == (iconv_t)-1)
        return 77;
    work_until_it_is_listed("EUC-JP.so");
    return iconv_close(converter);
}

/* In a namespace of its own. */
static int by_dlmopen(char *words[])
{
    void *handle;

    (void)words;
    work_until_it_is_listed("libc.so");
    handle = dlmopen(LM_ID_NEWLM, SFB_RECORD_LIBRARY_A, RTLD_NOW);
    if (!handle)
        return 1;
    work_until_it_is_listed("record-a.so");
    return 0;
}

const struct program_mode program_libraries[] = {
    { "converts", converts }, { "dlmopen", by_dlmopen }, { "cancelled", cancelled },
    { "swap", swap },         { "runpath", by_runpath }, { "dl_errors", errors },
    { NULL, NULL },
};
