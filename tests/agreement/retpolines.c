/*
 * Calls through pointers by retpolines, to functions that lie directly behind a call which does not return: built with
 * -fno-toplevel-reorder, -fno-align-functions and -mindirect-branch=thunk.
 *
 *     retpolines ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

typedef long function(long);

static volatile long sink;

static NOINLINE void __attribute__((noreturn)) die(const char *why)
{
    puts(why);
    exit(3);
}

static NOINLINE long leaf(long x)
{
    return x * 3 + 1;
}

/* Ends in a call that does not return, and the next function begins behind it. */
#define ENDS_IN_CALL(name)                                                                         \
    NOINLINE void name(long x)                                                                     \
    {                                                                                              \
        sink += leaf(x);                                                                           \
        die(#name);                                                                                \
    }

ENDS_IN_CALL(first)

NOINLINE long behind_first(long x)
{
    return x + 5;
}

ENDS_IN_CALL(second)

NOINLINE long behind_second(long x)
{
    return leaf(x) ^ sink;
}

ENDS_IN_CALL(third)

NOINLINE long behind_third(long x)
{
    return behind_first(x) + leaf(x);
}

static function *volatile table[] = { behind_first, behind_second, behind_third };

static NOINLINE long call_all(long rounds)
{
    long sum = 0;

    for (long i = 0; i < rounds; i++)
        sum += table[i % 3](i) + 1;
    return sum;
}

static NOINLINE long call_from(long depth)
{
    return depth > 0 ? call_from(depth - 1) + 1 : call_all(100);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;

    for (long i = 0; i < rounds; i++)
        sink += call_from(i % 20);
    printf("%d\n", sink != 0);
    return 0;
}
