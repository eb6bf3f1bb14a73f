#include "record/heap/table.h"

#include <pthread.h>
#include <stdlib.h>

#include "record/agent.h"
#include "record/heap/heap.h"
#include "record/heap/sample.h"
#include "record/interpose.h"
#include "record/live/api.h"
#include "record/live/environment.h"
#include "record/live/lists.h"
#include "record/live/live.h"
#include "record/real.h"

/* --- beginning and end ---------------------------------------------------------------------------- */

/* Only where nothing is recorded. */
static bool begin(void)
{
    uint32_t off = SFB_HEAP_OFF;

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

/* A copy of the thread that called fork() may have been in the middle of something: it is not, here. */
static void after_fork_in_child(void)
{
    if (sfb_heap_mode() == SFB_HEAP_TABLE)
        sfb_live_continue_in_child();
}

/* What the table needs may not be allowed: memory, the clock, and the end of its file when the process ends. */
static void filter_comes(void)
{
    sframe_backtrace_heap_stop();
    end(); /* a child may have none yet */
}

void sfb_heap_table_prepare(void)
{
    static const struct sfb_live_hooks hooks = { begin, end };

    sfb_live_use_hooks(&hooks);
    sfb_agent.libraries_change = libraries_change;
    sfb_agent.filter_comes = filter_comes;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    (void)at_quick_exit(sfb_live_end); /* else the file stays, and sfb ctl says whose it was */
}

bool sfb_heap_table_look(void)
{
    return sfb_live_start_by_environment();
}

/* Ways out of the process that run no destructors. */
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
