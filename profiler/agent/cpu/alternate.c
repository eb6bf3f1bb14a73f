#include "profiler/agent/cpu/alternate.h"

#include <stdint.h>
#include <sys/auxv.h>

/*
 * HANDLER: stack bytes of the handler itself, a bound that record.signals and record_tool.python_stack check: 3,800 are
 * used. The kernel's signal frame is added.
 */
enum { HANDLER = 4096, FRAME_MIN = 2048 };

static uint32_t small_seen;

bool sfb_alternate_may_be_used(void)
{
    return !__atomic_load_n(&small_seen, __ATOMIC_RELAXED);
}

void sfb_alternate_look(const stack_t *stack)
{
    unsigned long frame = getauxval(AT_MINSIGSTKSZ); /* 0: missing, on an old kernel */

    if (!(stack->ss_flags & SS_DISABLE) &&
        stack->ss_size < (frame > FRAME_MIN ? frame : FRAME_MIN) + HANDLER)
        __atomic_store_n(&small_seen, 1, __ATOMIC_RELAXED);
}
