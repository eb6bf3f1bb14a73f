/*
 * A function that the loader asks another one for when it is first called, if it binds lazily: the
 * signal comes in the midst of the loader's code, whose rules need a register that walks do not
 * track on their way there.
 */
#include "support/compiler.h"
#include "support/machine.h"

typedef int chosen_fn(void);

int call_lazily(int depth);
int chosen(void);

static int first(void)
{
    return 1;
}

/* Called by the loader. */
__attribute__((used)) NOINLINE static chosen_fn *choose(void)
{
    __asm__ volatile(MACHINE_FAULT ::: "memory");
    return first;
}

int chosen(void) __attribute__((ifunc("choose")));

NOINLINE int call_lazily(int depth)
{
    volatile int here = depth;

    if (depth > 1)
        here += call_lazily(depth - 1);
    else
        here += chosen();
    return here;
}
