/*
 * Two machines in one program: the suites beside this one walk made-up stacks of the other machine, whose
 * code is linked here under names of its own (tests.cmake), and this one the stack that it runs on.
 */
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "unwind/machine/arch.h"
#include <criterion/criterion.h>

NOINLINE static int capture_here(void **buffer, int count)
{
    int n = sframe_backtrace(buffer, count);

    cr_expect(n > 1); /* no tail call */
    return n;
}

Test(other_machine, stands_beside_this_ones_own)
{
    uintptr_t first = (uintptr_t)capture_here;
    void *buffer[64];
    int n = capture_here(buffer, 64);

    cr_assert(n > 2);
    cr_expect((uintptr_t)buffer[0] - first < 4096);
}
