#include "profiler/tests/live_heap/blocks.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Criterion is not for programs that a test starts: they would take themselves for workers of it. */
static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Where the test called it: registers as they are behind the call. */
#define CALLER                                                                                     \
    {                                                                                              \
        .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),                                    \
        .sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),                                          \
        .fp = *(uint64_t *)__builtin_frame_address(0)                                              \
    }

/* What the hook asks the allocator for. */
static size_t asked(size_t size)
{
    return size < SFB_LIVE_LARGE ? size + SFB_LIVE_TAIL : size;
}

static void *told(void *p, size_t size, const struct sfb_regs *caller)
{
    if (p)
        sfb_live_allocated(p, size, malloc_usable_size(p), caller);
    return p;
}

void *block_new(size_t size)
{
    const struct sfb_regs caller = CALLER;

    return told(malloc(asked(size)), size, &caller);
}

void *block_new_aligned(size_t alignment, size_t size)
{
    const struct sfb_regs caller = CALLER;

    return told(memalign(alignment, asked(size)), size, &caller);
}

void *block_new_zeroed(size_t size)
{
    const struct sfb_regs caller = CALLER;

    return told(calloc(1, asked(size)), size, &caller);
}

void *block_resize(void *p, size_t size)
{
    const struct sfb_regs caller = CALLER;
    struct sfb_live_move move;
    void *now;

    sfb_live_moving(&move, p, malloc_usable_size(p));
    now = realloc(p, asked(size));
    must(now, "no memory");
    sfb_live_moved(&move);
    return told(now, size, &caller);
}

void block_free(void *p)
{
    sfb_live_freed(p, malloc_usable_size(p));
    free(p);
}

size_t block_usable(void *p)
{
    return sfb_live_usable(p, malloc_usable_size(p));
}

void table_begin(uint64_t size)
{
    const struct sfb_live_how how = { .size = size };

    must(sfb_live_start(&how), "no table");
}

struct sfb_live_view view_now(void)
{
    return (struct sfb_live_view){ *sfb_live_table.map, sfb_live_table.stacks,
                                   sfb_live_table.pieces, sfb_live_table.lists };
}

struct sfb_live_sum sum_now(void)
{
    struct sfb_live_sum sum = { .stacks = sfb_live_table.map->stack_room };

    sum.of = calloc(sum.stacks, sizeof *sum.of);
    must(sum.of, "no memory");
    sfb_live_sum_begin(&sum, sfb_live_table.stacks, sfb_live_table.map->stacks.used);
    sfb_live_sum_slots(&sum, sfb_live_table.slots + 1, sfb_live_table.map->slots_used - 1);
    sfb_live_sum_end(&sum, sum.stacks);
    return sum;
}

void sum_free(struct sfb_live_sum *sum)
{
    free(sum->of);
}

static bool again(void *user, uint32_t index, struct sfb_live_slot *out)
{
    (void)user;
    *out = sfb_live_table.slots[index];
    return true;
}

static void overrun(void *user, uint32_t index, struct sfb_live_slot slot, uint32_t tail)
{
    struct sfb_live_sum *sum = user;

    must(tail != index, "an overrun that is none");
    sfb_live_sum_untailed(sum, slot, sfb_live_table.map->flags & SFB_LIVE_BYPASSED);
}

struct sfb_live_tails *tails_now(struct sfb_live_sum *sum)
{
    struct sfb_live_tails *tails = calloc(1, sizeof *tails);

    must(tails, "no memory");
    sfb_live_tails_begin(tails, getpid());
    tails->again = again;
    tails->overrun = overrun;
    tails->user = sum;
    tails->bypassed = sfb_live_table.map->flags & SFB_LIVE_BYPASSED;
    for (uint32_t i = 1; i < sfb_live_table.map->slots_used; i++)
        if (sfb_live_is_block(sfb_live_table.slots[i].block))
            sfb_live_tails_add(tails, i, sfb_live_table.slots[i]);
    sfb_live_tails_end(tails);
    return tails;
}
