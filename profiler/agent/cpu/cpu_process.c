#include "profiler/agent/cpu/cpu_process.h"

#include "profiler/agent/clocks.h"
#include "profiler/agent/cpu/helper.h"
#include "profiler/agent/cpu/sampler.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_end.h"
#include "profiler/agent/cpu/thread_life.h"
#include "profiler/agent/slot.h"
#include "profiler/agent/space.h"

void sfb_process_before_exec(bool program_ignores)
{
    if (sfb_agent_is_here())
        __atomic_store_n(&sfb_agent.process->prof_ignored, !program_ignores, __ATOMIC_RELEASE);
}

bool sfb_process_was_made_to_ignore(void)
{
    uint32_t pid = (uint32_t)getpid();

    for (uint32_t i = sfb_agent.process_first; i < sfb_agent.process_end; i++) {
        const struct sfb_shared_process *p = sfb_agent_process(i);

        if (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == SFB_SLOT_LIVE && p->pid == pid &&
            p->prof_ignored)
            return true;
    }
    return sfb_space.prof_ignored;
}

void sfb_process_end(void)
{
    if (!sfb_agent_is_here() || __atomic_exchange_n(&sfb_agent.ending, 1, __ATOMIC_SEQ_CST))
        return;
    sfb_thread_end_all();
    sfb_agent.process->end = sfb_now();
    sfb_agent.process->cpu_end = sfb_clock(CLOCK_PROCESS_CPUTIME_ID);
    __atomic_store_n(&sfb_agent.process->state, SFB_SLOT_ENDED, __ATOMIC_RELEASE);
}

void sfb_process_continue_in_child(void)
{
    struct sfb_thread_local *local = &sfb_thread_local;
    uint32_t parent = sfb_agent.slot + 1;

    if (!sfb_agent.shared || sfb_agent.left_alone)
        return;
    /* The rings are the parent's. The child inherits nothing of them: not even timers. */
    sfb_helper_forget_all();
    sfb_agent.generation++;
    local->busy = false;
    sfb_space_clear_threads();
    sfb_agent.threads_used = 0;
    if (sfb_agent_is_over() || sfb_agent.shared->flags & SFB_SHARED_NO_CHILDREN ||
        !sfb_slot_take(parent, 0)) {
        sfb_agent.shared = NULL;
        return;
    }
    if (sfb_thread_begin(0))
        sfb_thread_end_watch();
    else
        sfb_agent_wake_recorder();
    sfb_sampler_start_if_needed();
}
