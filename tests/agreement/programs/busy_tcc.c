/* CPU-bound, for tcc: recursion, sorting with a function, longjmp(), calls through pointers, text. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf caught;
static long sink;

static long fib(long n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static long fails(long n)
{
    if (n == 0)
        longjmp(caught, 1);
    return fails(n - 1) + 1;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static double half(double x)
{
    return x / 2;
}

static double twice(double x)
{
    return x * 2;
}

int main(void)
{
    static double (*const functions[])(double) = { half, twice };
    int numbers[500];
    char text[64];
    double x = 1;

    for (long round = 0; round < 10000000; round++) {
        sink += fib(15);
        for (int i = 0; i < 500; i++)
            numbers[i] = i * 7919 % 1009;
        qsort(numbers, 500, sizeof *numbers, compare);
        if (setjmp(caught) == 0)
            sink += fails(5);
        for (int i = 0; i < 100; i++)
            x = functions[numbers[i] & 1](x + i);
        snprintf(text, sizeof text, "%ld %f", sink, x);
        sink += (long)strlen(text);
    }
    return 0;
}
