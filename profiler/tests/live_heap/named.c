#include "profiler/tests/live_heap/named.h"

#include <malloc.h>
#include <stdlib.h>

#include "profiler/agent/live/live.h"
#include "sfb/cbf.h"

#define PC_FIRST UINT64_C(0x10000)

static struct sfb_regs caller_of(size_t size, uint32_t which)
{
    return (struct sfb_regs){ .pc = PC_FIRST + ((uint64_t)which * NAMED_SIZES + size) * 16,
                              .sp = (uint64_t)(uintptr_t)__builtin_frame_address(0) };
}

static void *name(void *p, size_t size, uint32_t which)
{
    const struct sfb_regs caller = caller_of(size, which);

    if (!p)
        abort();
    sfb_live_allocated(p, size, malloc_usable_size(p), &caller);
    return p;
}

void *named_new(size_t size, uint32_t which)
{
    return name(malloc(size + SFB_LIVE_TAIL), size, which);
}

void *named_resize(void *p, size_t size, uint32_t which)
{
    struct sfb_live_move move;

    sfb_live_moving(&move, p, malloc_usable_size(p));
    p = realloc(p, size + SFB_LIVE_TAIL);
    sfb_live_moved(&move);
    return name(p, size, which);
}

static bool count(void *user, const void *cbf, size_t size,
                  const uint64_t numbers[SFB_LIVE_STACK_NUMBERS])
{
    const uint64_t blocks = numbers[SFB_LIVE_STACK_BLOCKS], bytes = numbers[SFB_LIVE_STACK_BYTES];
    struct named_tally *tally = user;
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item frame;

    tally->stacks++;
    tally->blocks += blocks;
    tally->bytes += bytes;
    if (sfb_cbf_decoder_init(&decoder, cbf, size, NULL, NULL) != SFB_OK ||
        sfb_cbf_decoder_next(&decoder, &frame, NULL) != SFB_OK)
        tally->unnamed += blocks;
    else if (bytes != blocks * ((frame.value - PC_FIRST) / 16 % NAMED_SIZES))
        tally->wrong++;
    return true;
}

struct named_tally named_check(const struct sfb_live_view *view, const struct sfb_live_sum *sum)
{
    struct named_tally tally = { 0 };
    const struct sfb_live_visitor visitor = { .user = &tally, .stack = count };

    sfb_live_visit(view, sum, NULL, 1, 2, &visitor);
    return tally;
}
