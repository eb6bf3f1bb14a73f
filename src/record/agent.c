#include "record/agent.h"

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
        sfb_agent_lose(SFB_LOSS_NOT_FOLLOWED);
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

bool sfb_agent_claim(uint32_t *state)
{
    uint32_t expected = SFB_SLOT_FREE;

    return __atomic_load_n(state, __ATOMIC_RELAXED) == SFB_SLOT_FREE &&
           __atomic_compare_exchange_n(state, &expected, SFB_SLOT_CLAIMED, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}
