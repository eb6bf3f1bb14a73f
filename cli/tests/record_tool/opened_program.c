/*
 * A program that loads an interpreter itself: opened_program PATH NAME. It opens the library, works in a function of Python,
 * closes it, and works on; once by its path, once by a name that the loader searches. The interpreter has no code: support/fake_cpython.h.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "support/fake_cpython.h"

enum { WORK = 200000000 };

static volatile unsigned spun;

static void spin(uint64_t ns)
{
    struct timespec t;
    uint64_t end = 0, now = 0;

    while (end == 0 || now < end) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
        end = end == 0 ? now + ns : end;
        for (unsigned i = 0; i < 20000; i++)
            spun += i;
    }
}

static __attribute__((noinline)) void work_closed(void)
{
    spin(WORK);
    spun++;
}

/* The C frame that runs the functions. */
static __attribute__((noinline)) void work_opened(void (*run)(const struct fake_cpython *, void *))
{
    static const struct fake_cpython how = {
        .frames = 3, .codes = 1, .lines = 8, .names = 5, .states = 1
    };
    _Alignas(16) char shim[FAKE_CPYTHON_SHIM];

    run(&how, shim);
    spin(WORK);
    spun += (unsigned char)shim[0];
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        void (*run)(const struct fake_cpython *, void *);

        if (!library) {
            puts(dlerror());
            return 1;
        }
        *(void **)(void *)&run = dlsym(library, "fake_cpython_run");
        work_opened(run);
        dlclose(library);
        library = dlopen(argv[i], RTLD_NOW | RTLD_NOLOAD);
        if (library) {
            puts("it was not unloaded");
            dlclose(library);
            return 1;
        }
        work_closed();
    }
    return 0;
}
