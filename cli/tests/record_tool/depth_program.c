/*
 * A program that is deep in one thread alone: depth_program MS. The first thread works as shallow_work() near its outermost
 * frame for MS of CPU time, and after each 20 ms of it the other one works for 0.9 ms as deep_work(), below 40 KiB of stack.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 40, FRAME = 1024 };

static volatile unsigned spun;
static sem_t turn, done;

static uint64_t used(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void shallow_work(uint64_t ns)
{
    const uint64_t begun = used();

    while (used() - begun < ns)
        for (unsigned i = 0; i < 20000; i++)
            spun += i;
}

static __attribute__((noinline)) void deep_work(uint64_t ns)
{
    const uint64_t begun = used();

    while (used() - begun < ns)
        for (unsigned i = 0; i < 20000; i++)
            spun ^= i;
}

static __attribute__((noinline)) unsigned go_down(unsigned frames)
{
    volatile unsigned char room[FRAME];

    room[frames % FRAME] = (unsigned char)frames;
    if (frames > 0)
        return go_down(frames - 1) + room[frames % FRAME];
    deep_work(900000);
    return room[0];
}

static void *work_deep(void *none)
{
    (void)none;
    for (;;) {
        sem_wait(&turn);
        spun += go_down(FRAMES);
        sem_post(&done);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const uint64_t ns = argc == 2 ? (uint64_t)atoi(argv[1]) * 1000000 : 0;
    pthread_t thread;

    sem_init(&turn, 0, 0);
    sem_init(&done, 0, 0);
    if (pthread_create(&thread, NULL, work_deep, NULL) != 0)
        return 1;
    while (used() < ns) {
        shallow_work(20000000);
        sem_post(&turn);
        sem_wait(&done);
    }
    return 0;
}
