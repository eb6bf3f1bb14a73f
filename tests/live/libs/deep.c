/*
 * A function that calls itself and then raises a signal without a system call. Tests have it
 * several times over: with .sframe, without, and in libraries.
 *
 * ODD: the signal comes where the row of .eh_frame has an expression that makes no rule, though it
 * says what all rows say.
 *
 * ALIGNED: its frame begins at a multiple of 64, so that on x86-64 its rows find the CFA in memory: what
 * .sframe can say from version 3 on.
 */
#include <alloca.h>

#include "support/compiler.h"
#include "support/machine.h"

#ifndef DEEP
#define DEEP deep
#endif

int DEEP(int depth);

#ifdef ODD
void leaf(void);
__asm__(".text\n"
        ".hidden leaf\n"
        ".globl leaf\n"
        "leaf: .cfi_startproc\n" MACHINE_ODD_CFA MACHINE_FAULT "\n"
        "ret\n .cfi_endproc\n");
#else
static inline void leaf(void)
{
    __asm__ volatile(MACHINE_FAULT ::: "memory");
}
#endif

NOINLINE int DEEP(int depth)
{
#ifdef ALIGNED
    volatile int here __attribute__((aligned(64))) = depth;
    *(volatile char *)alloca((size_t)depth % 64 + 1) = 0;
#else
    volatile int here = depth;
#endif

    if (depth > 1)
        here += DEEP(depth - 1);
    else
        leaf();
    return here;
}
