#include "record/begin.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "record/clocks.h"
#include "record/process.h"
#include "record/prof_action.h"
#include "record/prof_signal.h"
#include "record/sampler.h"
#include "record/slot.h"
#include "record/tasks.h"
#include "record/thread.h"
#include "record/thread_end.h"
#include "record/thread_life.h"

enum { PAUSE_NS = 1000000, PAUSES = 1000 };

static void after_fork_in_child(void)
{
    sfb_agent.at_work = 0; /* others were, and are not here */
    sfb_prof_signal_continue_in_child();
    sfb_process_continue_in_child();
    if (!sfb_agent.shared)
        sfb_prof_signal_uninstall();
}

/* What is done once in a process, whatever is recorded how often. */
static bool prepare(void)
{
    static bool done;
    void *at;

    if (done)
        return true;
    at = mmap(NULL, SFB_SHARED_RING_MAX * sizeof(struct sfb_thread), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    sfb_agent.threads = at;
    done = sfb_thread_end_prepare() && pthread_atfork(NULL, NULL, after_fork_in_child) == 0 &&
           at_quick_exit(sfb_process_end) == 0; /* the first one is called last */
    return done;
}

/* Its first signal comes by its timer, or by the sampler. */
static void begin_other(pid_t tid, void *own)
{
    if (tid != *(const pid_t *)own && !sfb_thread_of(tid))
        sfb_thread_begin_other(tid, sfb_clock(sfb_clock_of_thread(tid)));
}

bool sfb_begin_may(void)
{
    const struct timespec pause = { .tv_nsec = PAUSE_NS };

    for (int i = 0; __atomic_load_n(&sfb_agent.at_work, __ATOMIC_SEQ_CST) > 0; i++) {
        if (i == PAUSES)
            return false;
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return true;
}

bool sfb_begin(struct sfb_shared *shared, uint64_t cpu_start, bool others)
{
    const struct sigaction none = { .sa_handler = SIG_DFL };
    pid_t own = (pid_t)syscall(SYS_gettid);
    struct sigaction before;

    if (!prepare() || !sfb_prof_signal_install())
        return false;
    madvise(sfb_agent.threads, SFB_SHARED_RING_MAX * sizeof *sfb_agent.threads, MADV_DONTNEED);
    sfb_agent.threads_used = 0;
    sfb_agent.generation++;
    sfb_agent.shared = shared;
    sfb_agent.ring_bytes = shared->ring_bytes;
    sfb_agent.end = sfb_process_end;
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
    if (others)
        sfb_tasks(begin_other, &own);
    sfb_sampler_start_if_needed();
    return true;
}
