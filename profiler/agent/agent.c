#include "profiler/agent/agent.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

struct sfb_agent sfb_agent;

struct sfb_shared_process *sfb_agent_process(uint32_t slot)
{
    const size_t offset = SFB_SHARED_PROCESSES_AT + slot * sizeof(struct sfb_shared_process);

    return (struct sfb_shared_process *)(sfb_agent.process_base + offset);
}

struct sfb_shared_ring *sfb_agent_ring(uint32_t slot)
{
    const size_t offset = SFB_SHARED_RINGS_AT + slot * sfb_shared_ring_stride(sfb_agent.ring_bytes);

    return (struct sfb_shared_ring *)(sfb_agent.ring_base + offset);
}

void sfb_agent_lose(enum sfb_recording_loss reason)
{
    __atomic_fetch_add(&sfb_agent.process->lost[reason], 1, __ATOMIC_RELAXED);
}

void sfb_agent_leave_alone(void)
{
    if (!sfb_agent_is_here())
        return;
    if (!sfb_agent_is_over())
        sfb_agent_lose(SFB_LOSS_FILTER);
    sfb_agent.end();
    __atomic_store_n(&sfb_agent.left_alone, 1, __ATOMIC_RELEASE);
}

void sfb_agent_wake_recorder(void)
{
    __atomic_fetch_add(&sfb_agent.shared->wake, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &sfb_agent.shared->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool sfb_agent_wait_for_others(uint32_t pause_ns)
{
    enum { PAUSES = 1000 };
    const struct timespec pause = { .tv_nsec = pause_ns };

    for (int i = 0; __atomic_load_n(&sfb_agent.at_work, __ATOMIC_SEQ_CST) > 0; i++) {
        if (i == PAUSES)
            return false;
        syscall(SYS_nanosleep, &pause, NULL);
    }
    return true;
}

static bool take(uint32_t *state)
{
    uint32_t expected = SFB_SLOT_FREE;

    return __atomic_load_n(state, __ATOMIC_RELAXED) == SFB_SLOT_FREE &&
           __atomic_compare_exchange_n(state, &expected, SFB_SLOT_CLAIMED, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

struct slots {
    uint32_t *hint; /* in the shared header: any agent of the session may have written it */
    uint32_t first, end;
    uintptr_t at; /* of number 0, mapped or not; its first word is the state */
    size_t stride;
};

/* From the hint on, and around. In a child of fork() each slot that is looked at is a page fault. */
static bool claim(const struct slots *s, uint32_t *out)
{
    uint32_t hint = __atomic_load_n(s->hint, __ATOMIC_RELAXED);
    const bool is_here = hint >= s->first && hint < s->end;
    uint32_t i = is_here ? hint : s->first;

    for (uint32_t n = s->first; n < s->end; n++) {
        if (take((uint32_t *)(s->at + i * s->stride))) {
            /* Unless the recorder has gone back meanwhile. */
            if (is_here)
                __atomic_compare_exchange_n(s->hint, &hint, i + 1, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED);
            *out = i;
            return true;
        }
        i = i + 1 < s->end ? i + 1 : s->first;
    }
    return false;
}

bool sfb_agent_claim_process(uint32_t *out)
{
    return claim(&(struct slots){ &sfb_agent.shared->free_process, sfb_agent.process_first,
                                  sfb_agent.process_end,
                                  sfb_agent.process_base + SFB_SHARED_PROCESSES_AT,
                                  sizeof(struct sfb_shared_process) },
                 out);
}

bool sfb_agent_claim_ring(uint32_t *out)
{
    return claim(&(struct slots){ &sfb_agent.shared->free_ring, sfb_agent_ring_first(),
                                  sfb_agent_ring_end(), sfb_agent.ring_base + SFB_SHARED_RINGS_AT,
                                  sfb_shared_ring_stride(sfb_agent.ring_bytes) },
                 out);
}
