/*
 * test-synth-glibc LIBRARY: compares backtrace() of the C library with ours: in a constructor, in a
 * callback of qsort(), in one of a library that is loaded later, in a signal handler that
 * interrupted raise(), and in one on an alternate stack. A line each, "WHERE: N frames, equal", or
 * the two lists.
 *
 * A glibc built with --enable-sframe uses .sframe, then libgcc_s. Without libgcc_s its result is
 * from .sframe alone.
 *
 * Exit status 0: all equal, 1: a difference, 2: the library cannot be loaded.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sframe_backtrace.h"

enum { FRAMES = 64 };

static bool failed;

void synth_compare(const char *where); /* also called by the library */

static void print(const char *name, void *const *frames, ssize_t count)
{
    printf("  %s:", name);
    for (ssize_t i = 0; i < count; i++)
        printf(" %p", frames[i]);
    printf("\n");
}

/* Both are called here; the first frames are the two call sites. */
__attribute__((noinline)) void synth_compare(const char *where)
{
    void *theirs[FRAMES], *ours[FRAMES];
    const int their_count = backtrace(theirs, FRAMES);
    const ssize_t our_count = sframe_backtrace_addresses(ours, FRAMES, NULL, NULL);

    if (their_count == our_count && our_count > 2 &&
        memcmp(theirs + 1, ours + 1, (size_t)(our_count - 1) * sizeof *ours) == 0) {
        printf("%s: %zd frames, equal\n", where, our_count);
        return;
    }
    failed = true;
    printf("%s: they differ\n", where);
    print("backtrace", theirs, their_count);
    print("ours", ours, our_count);
}

__attribute__((constructor)) static void start(void)
{
    synth_compare("constructor");
}

static int by_number(const void *a, const void *b)
{
    static int calls;

    if (calls++ == 0)
        synth_compare("qsort");
    return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
    synth_compare(number == SIGUSR1 ? "signal" : "signal on its own stack");
}

int main(int argc, char **argv)
{
    static char stack[65536];
    const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = on_signal };
    int numbers[] = { 3, 1, 2 };

    qsort(numbers, 3, sizeof *numbers, by_number);
    if (argc != 2 || !dlopen(argv[1], RTLD_NOW)) {
        fprintf(stderr, "test-synth-glibc: %s\n", argc == 2 ? dlerror() : "usage: LIBRARY");
        return 2;
    }
    sigaction(SIGUSR1, &action, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR1);
    raise(SIGUSR2);
    return failed;
}
