/*
 * A function that realigns its stack and keeps rbp, called by functions with frame pointers. gcc ends it by
 * `leave; lea -8(%r10), %rsp; ret`.
 *
 *     realign ROUNDS
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static volatile long sink;

static NOINLINE long leaf(long x)
{
    return x * 3 + 1;
}

/* Its room is known at run time alone, and lies beside a variable of a cache line. */
static NOINLINE long realigns(long n)
{
    _Alignas(64) volatile char aligned[64];
    char *room = alloca((size_t)n * 8 + 16);

    room[n] = (char)n;
    aligned[n] = room[n];
    return leaf(room[n] + aligned[n]);
}

static NOINLINE long inner(long n)
{
    return realigns(n) + 1;
}

static NOINLINE long middle(long n)
{
    return inner(n) + 2;
}

static NOINLINE long outer(long n)
{
    return middle(n) + 3;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000000;

    for (long i = 0; i < rounds; i++)
        sink += outer(i & 15);
    printf("%d\n", sink != 0);
    return 0;
}
