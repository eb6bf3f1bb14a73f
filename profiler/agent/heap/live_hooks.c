#include "profiler/agent/heap/live_hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/heap/heap.h"
#include "profiler/agent/heap/heap_sample.h"
#include "profiler/agent/heap/passed_by.h"
#include "profiler/agent/heap/usable.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/live/api.h"
#include "profiler/agent/live/lists.h"
#include "profiler/agent/live/live.h"
#include "profiler/agent/live/neighbours.h"
#include "profiler/agent/live/settings.h"
#include "profiler/agent/live/unknown.h"
#include "profiler/agent/real.h"

/* --- beginning and end ---------------------------------------------------------------------------- */

/* LeakSanitizer reports the sizes of leaked blocks. */
static bool has_leak_sanitizer(void)
{
    return dlsym(RTLD_DEFAULT, "__lsan_do_recoverable_leak_check") != NULL;
}

/* Fails if the heap is recorded. */
static bool begin(void)
{
    uint32_t off = SFB_HEAP_OFF;

    sfb_heap_usable_begin();
    sfb_live_reads_fresh = sfb_live_has_headers = sfb_heap_has_headers;
    if (sfb_heap_passed_by() > 0)
        sfb_live_bypassed();
    if (has_leak_sanitizer())
        sfb_live_large = 0;
    __atomic_store_n(&sfb_heap.tails, true, __ATOMIC_RELAXED);
    sfb_heap_look_at_all();
    return __atomic_compare_exchange_n(&sfb_heap.mode, &off, SFB_HEAP_TABLE, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void end(void)
{
    uint32_t table = SFB_HEAP_TABLE;

    __atomic_compare_exchange_n(&sfb_heap.mode, &table, SFB_HEAP_OFF, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}

static void libraries_change(bool unloaded)
{
    if (!sfb_live_is_on())
        return;
    if (unloaded)
        sfb_live_lists_renew(true);
    else
        sfb_live_lists_expect();
}

/* The thread that called fork() may have held the lists in the parent. In the child nothing is in progress. */
static void after_fork_in_child(void)
{
    if (sfb_heap_mode() == SFB_HEAP_TABLE)
        sfb_live_continue_in_child();
}

/* A seccomp filter may forbid what the table needs: memory, the clock, and the removal of its file at exit. */
static void filter_comes(void)
{
    sframe_backtrace_heap_stop();
    end(); /* sframe_backtrace_heap_stop() does not do it in a child without a table */
}

void sfb_heap_table_prepare(void)
{
    static const struct sfb_live_hooks hooks = { begin, end };

    sfb_live_use_hooks(&hooks);
    sfb_agent.libraries_change = libraries_change;
    sfb_agent.filter_comes = filter_comes;
    sfb_agent.library_hides = sfb_live_bypassed;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    (void)at_quick_exit(sfb_live_end); /* else the file stays, and sfb ctl says whose it was */
}

bool sfb_heap_table_look(void)
{
    return sfb_live_start_by_environment();
}

/* _exit() and _Exit() run no destructors. */
SFB_INTERPOSED void _exit(int status)
{
    sfb_live_end();
    sfb_real()->exit_now(status);
    __builtin_unreachable();
}

SFB_INTERPOSED void _Exit(int status)
{
    _exit(status);
}
