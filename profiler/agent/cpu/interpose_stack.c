/* sigaltstack(): the agent's handler avoids stacks that are too small for it. */
#include <signal.h>
#include <stddef.h>

#include "profiler/agent/cpu/alternate.h"
#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

/* Checked before the stack is set: the next signal may follow at once. */
SFB_INTERPOSED int sigaltstack(const stack_t *ss, stack_t *oss)
{
    bool could = sfb_alternate_may_be_used();

    if (ss)
        sfb_alternate_look(ss);
    if (could && !sfb_alternate_may_be_used() && sfb_prof_signal_is_ours(SIGPROF))
        sfb_prof_signal_leave_alternate();
    return sfb_real()->sigaltstack(ss, oss);
}
