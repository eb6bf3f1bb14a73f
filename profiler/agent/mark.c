/* A moment that the program names, by a place in the shared memory: no lock, no heap, no descriptor. */
#define SFRAME_BACKTRACE_RECORD_MARK_DEFINED

#include <errno.h>
#include <string.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/clocks.h"
#include "profiler/agent/interpose.h"
#include "sframe_backtrace_record.h"

/* @return NULL: all are taken, as the recorder has not read them yet */
static struct sfb_shared_mark *claim(void)
{
    for (uint32_t i = 0; i < SFB_SHARED_MARKS; i++) {
        struct sfb_shared_mark *mark = &sfb_agent.shared->marks[i];
        uint32_t expected = SFB_SLOT_FREE;

        if (__atomic_compare_exchange_n(&mark->state, &expected, SFB_SLOT_CLAIMED, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return mark;
    }
    return NULL;
}

static enum sfb_status put(const char *name, size_t size)
{
    const uint64_t time = sfb_now();
    struct sfb_shared_mark *mark;

    if (sfb_agent_is_over())
        return SFB_BAD_ARGUMENT;
    mark = claim();
    if (!mark)
        return SFB_NO_RESOURCE;
    __atomic_store_n(&mark->process, sfb_agent.slot, __ATOMIC_RELAXED);
    mark->time = time;
    memcpy(mark->name, name, size);
    if (size < sizeof mark->name)
        mark->name[size] = '\0';
    __atomic_store_n(&mark->state, SFB_SLOT_LIVE, __ATOMIC_RELEASE);
    sfb_agent_wake_recorder();
    return SFB_OK;
}

SFB_INTERPOSED enum sfb_status sframe_backtrace_record_mark(const char *name)
{
    const size_t size = name ? strnlen(name, SFRAME_BACKTRACE_RECORD_MARK_MAX + 1) : 0;
    const int before = errno;
    enum sfb_status status;

    if (size == 0 || size > SFRAME_BACKTRACE_RECORD_MARK_MAX || !sfb_agent_is_here())
        return SFB_BAD_ARGUMENT;
    sfb_agent_enter();
    status = put(name, size);
    sfb_agent_leave();
    errno = before;
    return status;
}

_Static_assert(SFRAME_BACKTRACE_RECORD_MARK_MAX == SFB_SHARED_MARK_NAME, "the header says so");
