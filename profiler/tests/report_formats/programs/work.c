/* CPU time in inlined functions, in a recursion, and in a thread whose name is no ASCII. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static volatile unsigned long sink;

static inline __attribute__((always_inline)) unsigned long mixed(unsigned long x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

static inline __attribute__((always_inline)) unsigned long twice(unsigned long x)
{
    return mixed(mixed(x) + 1);
}

__attribute__((noinline)) unsigned long inlines(unsigned long n);
__attribute__((noinline)) unsigned long down(int depth, unsigned long n);

unsigned long inlines(unsigned long n)
{
    unsigned long x = 88172645463325252UL;

    for (unsigned long i = 0; i < n; i++)
        x = twice(x);
    sink = x;
    return x + 1;
}

unsigned long down(int depth, unsigned long n)
{
    if (depth == 0)
        return inlines(n) + 1;
    for (unsigned long i = 0; i < n / 8; i++)
        sink += i;
    return down(depth - 1, n) + 1;
}

static unsigned long rounds;

static void *spend(void *unused)
{
    for (unsigned long i = 0; i < rounds; i++)
        sink = down(8, 20000);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 500;
    pthread_create(&thread, NULL, spend, NULL);
    pthread_setname_np(thread, "fäden→1");
    spend(NULL);
    pthread_join(thread, NULL);
    return 0;
}
