/*
 * Threads in the place of threads: turned_program. Eight at a time sleep for 100 ms and end, twenty times over: at nearly every moment there are as
 * many of them. It prints how many there were in all, and for how many ns they slept.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { AT_ONCE = 8, TIMES = 20, SLEEP_NS = 100000000 };

static _Atomic uint64_t slept;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void place_turned(void)
{
    const uint64_t before = now_ns();

    nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
    slept += now_ns() - before;
}

static void *sleep_once(void *unused)
{
    place_turned();
    return unused;
}

int main(void)
{
    unsigned count = 1; /* this one */

    for (unsigned i = 0; i < TIMES; i++) {
        pthread_t threads[AT_ONCE];
        unsigned begun = 0;

        while (begun < AT_ONCE && pthread_create(&threads[begun], NULL, sleep_once, NULL) == 0)
            begun++;
        for (unsigned k = 0; k < begun; k++)
            pthread_join(threads[k], NULL);
        count += begun;
    }
    printf("%u %" PRIu64 "\n", count, slept);
    return 0;
}
