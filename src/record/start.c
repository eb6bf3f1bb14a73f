/* The preloaded agent: begins when it is loaded, if `sfb record` is waiting for it. Else it does nothing. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "record/clocks.h"
#include "record/process.h"
#include "record/prof_signal.h"
#include "record/real.h"
#include "record/sampler.h"
#include "record/session.h"
#include "record/thread.h"
#include "record/thread_end.h"
#include "record/thread_life.h"

static void after_fork_in_child(void)
{
    sfb_prof_signal_continue_in_child();
    sfb_process_continue_in_child();
    if (!sfb_agent.shared)
        sfb_prof_signal_uninstall();
}

static void *map_threads(void)
{
    void *at = mmap(NULL, SFB_SHARED_RING_MAX * sizeof(struct sfb_thread), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* No other thread is there, or none that the agent sees. */
__attribute__((constructor)) static void begin(int argument_count, char *arguments[])
{
    struct sfb_shared *shared;
    uint64_t cpu_start = sfb_clock(CLOCK_PROCESS_CPUTIME_ID);

    sfb_real();
    if (getauxval(AT_SECURE))
        return;
    shared = sfb_session_map(getenv(SFB_SHARED_ENVIRONMENT));
    if (!shared)
        return;
    sfb_agent.threads = map_threads();
    sfb_agent.shared = shared;
    if (!sfb_agent.threads || !sfb_thread_end_prepare() || !sfb_prof_signal_install() ||
        pthread_atfork(NULL, NULL, after_fork_in_child) != 0) {
        sfb_agent.shared = NULL;
        return;
    }
    at_quick_exit(sfb_process_end); /* the first one is called last */
    sfb_process_describe(argument_count, arguments);
    if (!sfb_process_begin(0, cpu_start)) {
        sfb_agent.shared = NULL;
        sfb_prof_signal_uninstall();
        return;
    }
    if (sfb_thread_begin(sfb_clock(CLOCK_THREAD_CPUTIME_ID)))
        sfb_thread_end_watch();
    sfb_sampler_start_if_needed();
}

__attribute__((destructor)) static void end(void)
{
    sfb_process_end();
}
