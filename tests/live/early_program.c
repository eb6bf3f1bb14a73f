/*
 * A static-pie program that captures where there is no thread pointer yet: in an IFUNC resolver,
 * while the program relocates itself. Nothing can be found there, and nothing may go wrong.
 */
#include <stdio.h>

#include "sframe_backtrace.h"

static ssize_t early_cbf, early_addresses;
static int early_count = -1;

static int chosen(void)
{
    return 42;
}

typedef int function(void);

static function *resolve(void) __attribute__((used));

static function *resolve(void)
{
    static uint8_t bytes[256];
    static void *frames[16];

    early_cbf = sframe_backtrace_cbf(bytes, sizeof bytes, NULL, NULL);
    early_addresses = sframe_backtrace_addresses(frames, 16, NULL, NULL);
    early_count = sframe_backtrace(frames, 16);
    return chosen;
}

int late(void) __attribute__((ifunc("resolve")));

int main(void)
{
    void *frames[16];
    int count = sframe_backtrace(frames, 16);

    printf("early: %d, %d bytes, %d and %d addresses; in main() %d\n", late(), (int)early_cbf,
           (int)early_addresses, early_count, count);
    /* A negative result, or what there is. */
    return late() == 42 && early_cbf != 0 && early_addresses != 0 && early_count >= 0 && count >= 2
               ? 0
               : 1;
}
