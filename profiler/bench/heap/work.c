/*
 * Blocks that come and go at the bottom of some frames, for profiler/bench/heap/run.
 *
 *     work DEPTH LIVE THREADS PAIRS
 *
 * Each thread keeps LIVE blocks. PAIRS times, below DEPTH functions, it frees one of its blocks and takes another one,
 * of 16 to 527 bytes. Which block, which size and which calls lead there is random: two calls to the last function, and
 * three of malloc() in it. The inner six functions are called for each pair, the outer ones for 16 pairs at a time: a
 * processor predicts no more than 16 returns in a row, and what the others take would hide the rest.
 *
 * Prints the CPU ns a pair that the process took: of all its threads, those of a profiler included, without the
 * first LIVE blocks.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 64, DEPTH_MIN = 8, DEPTH_MAX = 64, PAIRS_AT_ONCE = 16 };

struct thread {
    pthread_t id;
    unsigned depth;
    uint32_t live;
    uint64_t pairs, random;
    void **blocks;
    pthread_barrier_t *filled, *timed, *done;
};

static uint64_t next_random(struct thread *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return t->random;
}

/* Each call of malloc() is one of its own: an asm that differs keeps the compiler from merging them. */
static __attribute__((noinline)) uint64_t level_1(struct thread *t)
{
    const uint64_t r = next_random(t);
    const uint64_t i = (r & 0xffffffff) * t->live >> 32;
    const size_t size = 16 + (r >> 32 & 511);
    void *block;

    free(t->blocks[i]);
    switch (r >> 48 & 3) {
    case 0:
        block = malloc(size);
        __asm__ volatile("# first" : "+r"(block));
        break;
    case 1:
        block = malloc(size);
        __asm__ volatile("# second" : "+r"(block));
        break;
    default:
        block = malloc(size);
        __asm__ volatile("# third" : "+r"(block));
        break;
    }
    if (block == NULL)
        abort();
    *(volatile char *)block = 1;
    t->blocks[i] = block;
    return i;
}

static __attribute__((noinline)) uint64_t level_2(struct thread *t)
{
    uint64_t i;

    if (t->random >> 60 & 1) {
        i = level_1(t);
        __asm__ volatile("# one" : "+r"(i));
    } else {
        i = level_1(t);
        __asm__ volatile("# other" : "+r"(i));
    }
    return i + 1;
}

/* Frames of different sizes; what is added behind the call keeps it from being a jump. */
#define LEVEL(n, inner)                                                                            \
    static __attribute__((noinline)) uint64_t level_##n(struct thread *t)                          \
    {                                                                                              \
        volatile char frame[(n) % 7 * 16 + 8];                                                     \
                                                                                                   \
        frame[0] = (char)(n);                                                                      \
        return level_##inner(t) + (uint64_t)frame[0];                                              \
    }
LEVEL(3, 2)
LEVEL(4, 3)
LEVEL(5, 4)
LEVEL(6, 5)

static __attribute__((noinline)) uint64_t level_7(struct thread *t)
{
    uint64_t sum = 0;

    for (int i = 0; i < PAIRS_AT_ONCE; i++)
        sum += level_6(t);
    return sum;
}

#define LEVELS(do)                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       \
    do                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   \
    (8, 7) do(9,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         \
              8) do(10, 9) do(11, 10) do(12, 11) do(13, 12) do(14, 13) do(15, 14) do(16, 15) do(17, 16) do(18, 17) do(19, 18) do(20, 19) do(21, 20) do(22, 21) do(23, 22) do(24, 23) do(25, 24) do(26, 25) do(27, 26) do(28, 27) do(29,                                                                                                                                                                                                                                                                                                                  \
                                                                                                                                                                                                                                    28) do(30, 29) do(31, 30) do(32, 31) do(33,                                                                                                                                                                                                                                                                          \
                                                                                                                                                                                                                                                                            32) do(34,                                                                                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                   33) do(35,                                                                                                                                                                                                                                                            \
                                                                                                                                                                                                                                                                                          34) do(36,                                                                                                                                                                                                                                                     \
                                                                                                                                                                                                                                                                                                 35) do(37,                                                                                                                                                                                                                                              \
                                                                                                                                                                                                                                                                                                        36) do(38, 37) do(39, 38) do(40,                                                                                                                                                                                                                 \
                                                                                                                                                                                                                                                                                                                                     39) do(41,                                                                                                                                                                                                          \
                                                                                                                                                                                                                                                                                                                                            40) do(42,                                                                                                                                                                                                   \
                                                                                                                                                                                                                                                                                                                                                   41) do(43,                                                                                                                                                                                            \
                                                                                                                                                                                                                                                                                                                                                          42) do(44, 43) do(45, 44) do(46,                                                                                                                                                               \
                                                                                                                                                                                                                                                                                                                                                                                       45) do(47,                                                                                                                                                        \
                                                                                                                                                                                                                                                                                                                                                                                              46) do(48,                                                                                                                                                 \
                                                                                                                                                                                                                                                                                                                                                                                                     47) do(49, 48) do(50, 49) do(51, 50) do(52, 51) do(53,                                                                                              \
                                                                                                                                                                                                                                                                                                                                                                                                                                                        52) do(54, 53) do(55,                                                                            \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                          54) do(56,                                                                     \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 55) do(57,                                                              \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        56) do(58,                                                       \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               57) do(59, 58) do(60, 59) do(61, 60) do(62,               \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       61) do(63,        \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              62) do(64, \
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     63)
#define ENTRY(n, inner) [n] = level_##n,

LEVELS(LEVEL)
static uint64_t (*const levels[])(struct thread *) = { LEVELS(ENTRY) };

static void *run(void *argument)
{
    struct thread *t = argument;
    uint64_t (*const outermost)(struct thread *) = levels[t->depth];

    for (uint32_t i = 0; i < t->live; i++)
        if ((t->blocks[i] = malloc(16 + (next_random(t) >> 32 & 511))) == NULL)
            abort();
    pthread_barrier_wait(t->filled);
    pthread_barrier_wait(t->timed);
    for (uint64_t i = 0; i < t->pairs; i += PAIRS_AT_ONCE)
        outermost(t);
    pthread_barrier_wait(t->done);
    return NULL;
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    static struct thread threads[THREADS_MAX];
    pthread_barrier_t filled, timed, done;
    unsigned long number[4];
    double start;

    for (int i = 0; argc == 5 && i < 4; i++)
        number[i] = strtoul(argv[i + 1], NULL, 10);
    if (argc != 5 || number[0] < DEPTH_MIN || number[0] > DEPTH_MAX || number[1] == 0 ||
        number[2] == 0 || number[2] > THREADS_MAX || number[3] < number[2] * PAIRS_AT_ONCE) {
        fprintf(stderr, "usage: work DEPTH LIVE THREADS PAIRS\n");
        return 2;
    }
    pthread_barrier_init(&filled, NULL, (unsigned)number[2] + 1);
    pthread_barrier_init(&timed, NULL, (unsigned)number[2] + 1);
    pthread_barrier_init(&done, NULL, (unsigned)number[2] + 1);
    for (unsigned i = 0; i < number[2]; i++) {
        threads[i] =
            (struct thread){ .depth = (unsigned)number[0],
                             .live = (uint32_t)number[1],
                             .pairs = number[3] / number[2] / PAIRS_AT_ONCE * PAIRS_AT_ONCE,
                             .random = 0x9e3779b97f4a7c15U * (i + 1),
                             .blocks = calloc(number[1], sizeof(void *)),
                             .filled = &filled,
                             .timed = &timed,
                             .done = &done };
        if (threads[i].blocks == NULL ||
            pthread_create(&threads[i].id, NULL, run, &threads[i]) != 0) {
            fprintf(stderr, "work: no memory, or no thread\n");
            return 1;
        }
    }
    pthread_barrier_wait(&filled);
    start = cpu_ns();
    pthread_barrier_wait(&timed);
    pthread_barrier_wait(&done);
    printf("%.2f\n", (cpu_ns() - start) / (double)(threads[0].pairs * number[2]));
    for (unsigned i = 0; i < number[2]; i++)
        pthread_join(threads[i].id, NULL);
    return 0;
}
