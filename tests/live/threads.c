/*
 * Many threads at once, while libraries come and go: every walk reaches its end, and thread
 * sanitizer (preset tsan) sees no race.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"

enum { THREADS = 4, WALKS = 3000, LOADS = 200 };

static atomic_uint walks, incomplete, loads;
static atomic_bool done;

NOINLINE static unsigned walk(unsigned depth)
{
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint8_t buffer[512];
    unsigned frames;

    if (depth > 0) {
        frames = walk(depth - 1) + 1;
    } else {
        sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info);
        frames = info.frames;
        atomic_fetch_add(&walks, 1);
        if (info.end != SFB_END)
            atomic_fetch_add(&incomplete, 1);
    }
    return frames;
}

static int from_library(void)
{
    return (int)walk(3);
}

static void *walker(void *arg)
{
    /* Walks take less time than libraries. */
    for (unsigned i = 0; i < WALKS || atomic_load(&loads) < LOADS; i++)
        walk(i % 20);
    (void)arg;
    return NULL;
}

static void *loader(void *arg)
{
    static const char *const names[] = { "64", "96", "5000", "bare" };
    char path[512];

    for (unsigned i = 0; !atomic_load(&done); i++) {
        int (*call_back)(int (*)(void));
        void *library;

        snprintf(path, sizeof path, "%s/libframes-%s.so", SFB_TEST_LIBS, names[i % 4]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "threads: %s\n", dlerror());
            _Exit(1);
        }
        *(void **)&call_back = dlsym(library, "call_back");
        call_back(from_library);
        if (i % 8 == 0)
            sframe_backtrace_refresh();
        dlclose(library);
        atomic_fetch_add(&loads, 1);
    }
    (void)arg;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS], loading;
    unsigned all, cut;

    if (pthread_create(&loading, NULL, loader, NULL) != 0)
        return 2;
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, walker, NULL) != 0)
            return 2;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&done, true);
    pthread_join(loading, NULL);
    all = atomic_load(&walks);
    cut = atomic_load(&incomplete);
    printf("threads: %u walks, %u of them incomplete; %u libraries came and went\n", all, cut,
           atomic_load(&loads));
    return cut == 0 ? 0 : 1;
}
