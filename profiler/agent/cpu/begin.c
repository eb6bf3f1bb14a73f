#include "profiler/agent/cpu/begin.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/cpu/cpu_process.h"
#include "profiler/agent/cpu/own_tasks.h"
#include "profiler/agent/cpu/prof_action.h"
#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/cpu/sampler.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_end.h"
#include "profiler/agent/cpu/thread_life.h"
#include "profiler/agent/modules.h"
#include "profiler/agent/python/python_find.h"
#include "profiler/agent/slot.h"
#include "profiler/agent/space.h"
#include "profiler/agent/space_map.h"

enum { PAUSE_NS = 1000000 };

static void after_fork_in_child(void)
{
    sfb_agent.at_work = 0; /* of other threads, which do not exist here */
    sfb_modules_continue_in_child();
    sfb_python_continue_in_child();
    sfb_prof_signal_continue_in_child();
    sfb_process_continue_in_child();
    if (!sfb_agent.shared)
        sfb_prof_signal_uninstall();
}

/* Done once in a process, however often it is recorded. */
static bool prepare(void)
{
    static bool done;

    if (done)
        return true;
    if (!sfb_agent.threads)
        sfb_agent.threads = sfb_space_map_threads();
    if (!sfb_agent.threads)
        return false;
    done = sfb_thread_end_prepare() && pthread_atfork(NULL, NULL, after_fork_in_child) == 0 &&
           at_quick_exit(sfb_process_end) == 0; /* registered first, so called last */
    return done;
}

/* The thread's first signal comes from its timer, or from the sampler. */
static void begin_other(pid_t tid, void *own)
{
    if (tid != *(const pid_t *)own && !sfb_thread_of(tid))
        sfb_thread_begin_other(tid, sfb_clock(sfb_clock_of_thread(tid)));
}

bool sfb_begin_may(void)
{
    return sfb_agent_wait_for_others(PAUSE_NS);
}

bool sfb_begin(struct sfb_shared *shared, uint64_t cpu_start, bool others)
{
    const struct sigaction none = { .sa_handler = SIG_DFL };
    pid_t own = (pid_t)syscall(SYS_gettid);
    struct sigaction before;

    if (!prepare() || !sfb_prof_signal_install())
        return false;
    if (__atomic_load_n(&sfb_agent.generation, __ATOMIC_RELAXED) > 0) /* else freshly mapped */
        sfb_space_clear_threads();
    __atomic_store_n(&sfb_agent.threads_used, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sfb_agent.generation, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&sfb_agent.shared, shared, __ATOMIC_RELAXED);
    sfb_agent.ring_bytes = shared->ring_bytes;
    sfb_agent.end = sfb_process_end;
    sfb_agent.modules_are_new = sfb_python_look_for;
    sfb_prof_action_get(&before);
    if (before.sa_handler == SIG_IGN && sfb_process_was_made_to_ignore())
        sfb_prof_action_set(&none);
    if (!sfb_slot_take(0, cpu_start)) {
        sfb_agent.shared = NULL;
        sfb_prof_signal_uninstall();
        return false;
    }
    sfb_agent.others = others;
    if (sfb_thread_begin(sfb_clock(CLOCK_THREAD_CPUTIME_ID)))
        sfb_thread_end_watch();
    else
        sfb_agent_wake_recorder();
    if (others)
        sfb_tasks(begin_other, &own);
    sfb_sampler_start_if_needed();
    return true;
}
