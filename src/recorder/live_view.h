/*
 * A live table as its reader has it: lists of modules, and of each the stacks that have blocks. Of the process itself,
 * or a copy of another one's map. Trusts no byte of it. Allocates nothing. Signals: safe.
 */
#ifndef SFB_RECORDER_LIVE_VIEW_H
#define SFB_RECORDER_LIVE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/live.h"
#include "recorder/live_lines.h"
#include "recorder/live_sum.h"

struct sfb_live_view {
    struct sfb_live head;    /* a copy, which was judged */
    const uint64_t *buckets; /* head.bucket_count */
    const uint8_t *stacks;   /* head.units_used units */
    const uint8_t *lists;    /* head.lists_size bytes */
};

/* Who is told. Any may be NULL. Each returns false to stop. */
struct sfb_live_visitor {
    void *user;
    bool (*begin)(void *user, const uint64_t numbers[SFB_LIVE_BEGIN_NUMBERS], const char *path);
    /* Stacks that follow are in these modules. @param map  Compact ImageMap; size 0: it is lost */
    bool (*list)(void *user, uint64_t number, uint64_t time, const void *map, size_t size);
    bool (*stack)(void *user, const void *cbf, size_t size,
                  const uint64_t numbers[SFB_LIVE_STACK_NUMBERS]);
    bool (*end)(void *user, const uint64_t numbers[SFB_LIVE_END_NUMBERS]);
};

/* What a check of tails has found: NULL if there was none. */
struct sfb_live_tails;

/* Whether a header describes a map of so many bytes: every offset and count of it is within. */
bool sfb_live_is_sound(const struct sfb_live *head, uint64_t size);

/* The place of a stack. @return NULL: there is none of that id */
const struct sfb_live_stack *sfb_live_stack_at(const struct sfb_live_view *view, uint32_t id);

/*
 * Tells all of it.
 *
 * @param monotonic, realtime  now
 * @return false: somebody stopped it
 */
bool sfb_live_visit(const struct sfb_live_view *view, const struct sfb_live_sum *sum,
                    const struct sfb_live_tails *tails, uint64_t monotonic, uint64_t realtime,
                    const struct sfb_live_visitor *visitor);

#endif
