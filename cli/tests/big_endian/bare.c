/*
 * Built without --gsframe: no table says how to get from here to the caller. What a walk makes of
 * that depends on how it is built, and on the code around it: see cli/tests/command/big_endian.c.
 */
#include "calls.h"

__attribute__((noipa)) uint64_t bare(action_fn *action, uint64_t n)
{
    volatile uint64_t room[24];

    ENTER();
    room[n % 24] = n;
    n = action(n + 1) + room[n % 24];
    LEAVE();
    return n;
}
