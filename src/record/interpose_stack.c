/* sigaltstack(): the agent's handler leaves stacks alone that are too small for it. */
#include <signal.h>
#include <stddef.h>

#include "record/alternate.h"
#include "record/interpose.h"
#include "record/prof_signal.h"
#include "record/real.h"

/* Before the stack is there: the next signal may come behind it. */
SFB_INTERPOSED int sigaltstack(const stack_t *ss, stack_t *oss)
{
    bool could = sfb_alternate_may_be_used();

    if (ss)
        sfb_alternate_look(ss);
    if (could && !sfb_alternate_may_be_used() && sfb_prof_signal_is_ours(SIGPROF))
        sfb_prof_signal_leave_alternate();
    return sfb_real()->sigaltstack(ss, oss);
}
