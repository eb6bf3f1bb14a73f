/*
 * Reader of a live table: module lists, and under each the stacks that have blocks. Reads the process's own table or a
 * copy of another one's. Trusts no byte of it. Allocates nothing. Signals: safe.
 */
#ifndef PROFILER_PROTOCOL_LIVE_VIEW_H
#define PROFILER_PROTOCOL_LIVE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/protocol/live.h"
#include "profiler/protocol/live_lines.h"
#include "profiler/protocol/live_sum.h"

struct sfb_live_view {
    struct sfb_live head;                /* a copy, checked */
    const struct sfb_live_stack *stacks; /* head.stacks.used */
    const struct sfb_live_piece *pieces; /* head.pieces.used */
    const uint8_t *lists;                /* head.lists_size bytes */
};

/* Callbacks. Any may be NULL. Each returns false to stop. */
struct sfb_live_visitor {
    void *user;
    bool (*begin)(void *user, const uint64_t numbers[SFB_LIVE_BEGIN_NUMBERS], const char *path);
    /* The following stacks refer to these modules. @param map  Compact ImageMap; size 0: it is lost */
    bool (*list)(void *user, uint64_t number, uint64_t time, const void *map, size_t size);
    bool (*stack)(void *user, const void *cbf, size_t size,
                  const uint64_t numbers[SFB_LIVE_STACK_NUMBERS]);
    bool (*end)(void *user, const uint64_t numbers[SFB_LIVE_END_NUMBERS]);
};

/* Results of a check of tails; NULL if tails were not checked. */
struct sfb_live_tails;

/* True if every offset and count of a header is within a map of this size. */
bool sfb_live_is_sound(const struct sfb_live *head, uint64_t size);

/*
 * Copies a stack, which may be freed meanwhile.
 *
 * @param out  written if it returns a size: the stack as it was while its bytes were read
 * @return bytes of its CBF; 0: there is no such stack, or it contradicts itself
 */
size_t sfb_live_stack_copy(const struct sfb_live_view *view, uint32_t id,
                           struct sfb_live_stack *out, uint8_t cbf[SFB_LIVE_CBF_MAX]);

/*
 * Visits the whole table.
 *
 * @param monotonic, realtime  now
 * @return false: a callback stopped it
 */
bool sfb_live_visit(const struct sfb_live_view *view, const struct sfb_live_sum *sum,
                    const struct sfb_live_tails *tails, uint64_t monotonic, uint64_t realtime,
                    const struct sfb_live_visitor *visitor);

#endif
