#include "profiler/collector/heap/heap_thread.h"

#include "profiler/collector/heap/heap_account.h"
#include "profiler/collector/heap/heap_replay.h"

/*
 * A moved block is freed at its new block's allocation; the exact time between the two is unknown. If another event
 * follows first, realloc() had the size 0 and was a free().
 */
static void free_moved(struct sfb_heap_process *p, struct sfb_heap_thread *t, uint64_t time)
{
    const struct sfb_heap_action a = { .time = time,
                                       .pointer = t->moving.pointer,
                                       .thread = t->id,
                                       .frees = true,
                                       .temporary = t->moves_temporary };

    sfb_heap_account_free(p, &t->moving, &a);
    t->moves = false;
}

static uint16_t chain_behind(const struct sfb_heap_thread *t)
{
    if (!t->moves)
        return 1;
    return t->moving.chain < UINT16_MAX ? (uint16_t)(t->moving.chain + 1) : UINT16_MAX;
}

/* Counts an event. @param allocated  0: no block that is followed */
static void note(const struct sfb_heap_process *p, struct sfb_heap_thread *t, uint64_t allocated)
{
    t->recent[t->next++] = allocated;
    if (t->next >= p->heap->temporary_within)
        t->next = 0;
}

/*
 * Forgets a freed block: the next one at its address is another. In a sampled heap, events between the two may be missing.
 *
 * @return whether one of the thread's last events allocated it
 */
static bool take_recent(const struct sfb_heap_process *p, struct sfb_heap_thread *t,
                        uint64_t pointer)
{
    for (uint32_t i = 0; i < p->heap->temporary_within; i++)
        if (t->recent[i] == pointer) {
            t->recent[i] = 0;
            return !sfb_heap_is_sampled(p);
        }
    return false;
}

void sfb_heap_thread_allocated(struct sfb_heap_process *p, struct sfb_heap_thread *t,
                               const struct sfb_heap_allocation *allocation)
{
    struct sfb_heap_action a = { .time = allocation->time,
                                 .pointer = allocation->pointer,
                                 .size = allocation->size,
                                 .thread = t->id,
                                 .slack = allocation->slack,
                                 .chain = allocation->reallocates ? chain_behind(t) : 0,
                                 .reallocates = allocation->reallocates };

    if (t->moves)
        free_moved(p, t, allocation->time);
    if (!sfb_heap_process_site(p, &a.site, t->id, allocation->hash,
                               allocation->maps ? SFB_HEAP_MAPPED : SFB_HEAP_MALLOC)) {
        p->dropped++;
        note(p, t, 0);
        return;
    }
    if (allocation->maps) {
        sfb_heap_replay_map(p, &a);
        note(p, t, 0);
        return;
    }
    sfb_heap_replay(p, &a);
    note(p, t, allocation->pointer);
}

void sfb_heap_thread_freed(struct sfb_heap_process *p, struct sfb_heap_thread *t, uint64_t time,
                           uint64_t pointer)
{
    const struct sfb_heap_action a = { .time = time,
                                       .pointer = pointer,
                                       .thread = t->id,
                                       .frees = true,
                                       .temporary = take_recent(p, t, pointer) };

    if (t->moves)
        free_moved(p, t, time);
    note(p, t, 0);
    sfb_heap_replay(p, &a);
}

void sfb_heap_thread_unmapped(struct sfb_heap_process *p, struct sfb_heap_thread *t, uint64_t time,
                              uint64_t address, uint64_t size)
{
    const struct sfb_heap_action a = {
        .time = time, .pointer = address, .size = size, .thread = t->id, .frees = true
    };

    if (t->moves)
        free_moved(p, t, time);
    note(p, t, 0);
    sfb_heap_replay_map(p, &a);
}

void sfb_heap_thread_moves(struct sfb_heap_process *p, struct sfb_heap_thread *t, uint64_t time,
                           uint64_t pointer)
{
    if (t->moves)
        free_moved(p, t, time);
    t->moves = sfb_heap_replay_take(p, &t->moving, pointer);
    if (!t->moves) {
        sfb_heap_thread_freed(p, t, time, pointer);
        return;
    }
    t->moves_temporary = take_recent(p, t, pointer);
    note(p, t, 0);
}

void sfb_heap_thread_failed(struct sfb_heap_process *p, struct sfb_heap_thread *t)
{
    if (t->moves)
        sfb_heap_replay_return(p, &t->moving);
    t->moves = false;
    note(p, t, 0);
}

void sfb_heap_thread_ended(struct sfb_heap_process *p, struct sfb_heap_thread *t)
{
    if (t->moves)
        free_moved(p, t, p->time);
}
