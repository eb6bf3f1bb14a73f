#include "recorder/heap_thread.h"

#include "recorder/heap_account.h"
#include "recorder/heap_replay.h"

/*
 * A block that was moved is freed when the new one is there: between both, nobody can tell. Where the thread's next event
 * is another one, realloc() had a size of 0: it is free() then.
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

/* Of a sampled heap, events between the two may be missing. */
static bool is_temporary(const struct sfb_heap_process *p, const struct sfb_heap_thread *t,
                         uint64_t pointer)
{
    return t->last == pointer && !sfb_heap_is_sampled(p);
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
    t->last = 0;
    if (!sfb_heap_process_site(p, &a.site, t->id, allocation->hash,
                               allocation->maps ? SFB_HEAP_MAPPED : SFB_HEAP_MALLOC)) {
        p->unplaced++;
        return;
    }
    if (allocation->maps) {
        sfb_heap_replay_map(p, &a);
        return;
    }
    sfb_heap_replay(p, &a);
    t->last = allocation->pointer;
}

void sfb_heap_thread_freed(struct sfb_heap_process *p, struct sfb_heap_thread *t, uint64_t time,
                           uint64_t pointer)
{
    const struct sfb_heap_action a = { .time = time,
                                       .pointer = pointer,
                                       .thread = t->id,
                                       .frees = true,
                                       .temporary = is_temporary(p, t, pointer) };

    if (t->moves)
        free_moved(p, t, time);
    t->last = 0;
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
    t->last = 0;
    sfb_heap_replay_map(p, &a);
}

void sfb_heap_thread_moves(struct sfb_heap_process *p, struct sfb_heap_thread *t, uint64_t time,
                           uint64_t pointer)
{
    const bool temporary = is_temporary(p, t, pointer);

    if (t->moves)
        free_moved(p, t, time);
    t->moves = sfb_heap_replay_take(p, &t->moving, pointer);
    t->moves_temporary = temporary;
    if (!t->moves)
        sfb_heap_thread_freed(p, t, time, pointer);
    t->last = 0;
}

void sfb_heap_thread_failed(struct sfb_heap_process *p, struct sfb_heap_thread *t)
{
    if (t->moves)
        sfb_heap_replay_return(p, &t->moving);
    t->moves = false;
    t->last = 0;
}

void sfb_heap_thread_ended(struct sfb_heap_process *p, struct sfb_heap_thread *t)
{
    if (t->moves)
        free_moved(p, t, p->time);
}
