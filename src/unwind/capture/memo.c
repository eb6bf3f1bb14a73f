/*
 * The memo of a thread's last walk.
 *
 * Invariants:
 * - What a frame leads to depends on its (pc, sp, fp), on the rule for the pc, and on the one or
 *   two stack words that the rule reads. Frame i of a memo leads to frame i - 1 as long as these
 *   words are what they were and the modules are there that the rules came from. So if a walk comes
 *   to a frame that the memo has, by all three registers, and the words of the frames further out
 *   still hold, these are the frames that the walk would find: the memo is exact, and knows nothing
 *   of threads or time.
 * - No word is read that the walk could not read: all of them lie above the sp of the frame that
 *   was recognised, and below that of the outermost frame, which has to be within the known stack.
 * - Frames stand outermost first, so that those of the next walk, further in, are only appended.
 *   They are found innermost first, and so wait at the far end of the storage, in that order, until
 *   it is known where they go: see struct sfb_memo_walk.
 * - The storage is the caller's, who lets one thread use it at a time. A walk in a signal handler
 *   that finds it in the hands of the walk that was interrupted goes on without.
 *
 * Where stacks have nothing in common, recording them is for nothing: after a few misses in a row
 * the memo is left alone for a while.
 */
#include "unwind/capture/memo.h"

#include <string.h>

#include "sframe_backtrace.h"
#include "unwind/process/loader.h"

enum {
    CAPACITY_MAX = INT32_MAX,
    MISSES_MAX = 4,
    IDLE_WALKS = 30,
    SECOND_CHANCES = 2 /* one walk to be recorded, one that may recognise it */
};

_Static_assert(sizeof(struct sfb_memo) == SFRAME_BACKTRACE_MEMO_BASE &&
                   sizeof(struct sfb_memo) + sizeof(struct sfb_memo_frame) ==
                       SFRAME_BACKTRACE_MEMO_SIZE(1),
               "what callers are told to reserve");

static void give_back_memo(struct sfb_memo *memo)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memo->busy = 0;
}

void sfb_memo_begin(struct sfb_memo_walk *out, void *storage, size_t size, uint64_t hi)
{
    struct sfb_memo *memo = storage;

    out->memo = NULL;
    if (!storage || (uintptr_t)storage % 8 != 0 || size < sizeof *memo + sizeof *memo->frame ||
        hi == 0 || memo->busy)
        return;
    /* First of all: a walk in a handler that comes before leaves the memo whole. */
    memo->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (memo->idle > 0) {
        if (--memo->idle == 0)
            memo->misses = MISSES_MAX - SECOND_CHANCES;
        give_back_memo(memo);
        return;
    }
    size = (size - sizeof *memo) / sizeof *memo->frame;
    out->capacity = (size < CAPACITY_MAX ? (uint32_t)size : CAPACITY_MAX) & CAPACITY_MAX;
    /* A smaller storage than last time would have lost its inner frames to somebody else. */
    if (memo->hi != hi || memo->count > out->capacity) {
        memo->hi = hi;
        memo->count = 0;
    }
    out->memo = memo;
    out->outer = memo->count;
    out->matched = 0;
    out->fresh = out->capacity;
    out->hit = false;
    memo->any_new_modules = false;
    memset(memo->new_modules, 0, sizeof memo->new_modules);
}

static void add_modules(uint64_t *to, const uint64_t *from)
{
    for (unsigned i = 0; i < SFB_MODULE_PERMANENT / 64; i++)
        to[i] |= from[i];
}

/* Those of frames that are gone go with them, when the whole memo is new. */
static void keep_modules(struct sfb_memo *memo, bool all_new)
{
    if (all_new) {
        memcpy(memo->modules, memo->new_modules, sizeof memo->modules);
        memo->any_modules = memo->any_new_modules;
    } else if (memo->any_new_modules) {
        add_modules(memo->modules, memo->new_modules);
        memo->any_modules = true;
    }
}

void sfb_memo_end(struct sfb_memo_walk *walk, bool complete)
{
    struct sfb_memo *memo = walk->memo;
    uint32_t fresh = walk->capacity - walk->fresh;

    keep_modules(memo, walk->matched == 0);
    if (walk->matched == 0)
        memo->complete = complete;
    if (fresh > 0 && walk->fresh != walk->matched)
        memmove(&memo->frame[walk->matched], &memo->frame[walk->fresh],
                fresh * sizeof *memo->frame);
    memo->count = walk->matched + fresh;
    if (walk->hit)
        memo->misses = 0;
    else if (++memo->misses >= MISSES_MAX)
        memo->idle = IDLE_WALKS;
    give_back_memo(memo);
}

void sfb_memo_discard_inner(struct sfb_memo_walk *walk)
{
    walk->fresh = walk->capacity;
    walk->matched = 0;
}

void sfb_memo_diverge(struct sfb_memo_walk *walk)
{
    struct sfb_memo *memo = walk->memo;
    struct sfb_memo_frame *frame = memo->frame;
    uint32_t count = walk->matched - walk->outer;

    /* There is room: the fresh ones begin behind what was matched. */
    walk->fresh -= count;
    memmove(&frame[walk->fresh], &frame[walk->outer], count * sizeof *frame);
    walk->matched = 0;
    if (memo->any_modules) {
        add_modules(memo->new_modules, memo->modules);
        memo->any_new_modules = true;
    }
}

/* In a walk that stands on a frame of the memo, and then does not. */
static void forget(struct sfb_memo_walk *walk)
{
    walk->outer = 0;
    sfb_memo_discard_inner(walk);
}

/*
 * A pc in a module among those of the memo's frames that are on the stack now, from the one that
 * the walk stands on outwards; 0: there is none, and if `all` frames are there, no frame of the
 * memo has to do with the module.
 */
static uint64_t pc_in_module(const struct sfb_memo_walk *walk, uint32_t id, bool *all)
{
    const struct sfb_memo_frame *frame = walk->memo->frame;

    for (uint32_t i = walk->matched; i > 0; i--) {
        if (i < walk->matched && !sfb_memo_holds(&frame[i - 1])) {
            *all = false;
            return 0;
        }
        if (sfb_module_id_covered_pc(id, frame[i - 1].key - 1))
            return frame[i - 1].key - 1;
    }
    *all = true;
    return 0;
}

bool sfb_memo_check(struct sfb_memo_walk *walk, uint64_t hi, struct sfb_seen_modules *seen)
{
    struct sfb_memo *memo = walk->memo;

    /* What a walk goes on to behind a signal's frame, or behind a page, can be less than it was. */
    if (memo->frame[0].sp > hi) {
        forget(walk);
        return false;
    }
    if (!memo->any_modules)
        return true;
    for (unsigned i = 0; i < SFB_MODULE_PERMANENT / 64; i++) {
        for (uint64_t left = memo->modules[i]; left; left &= left - 1) {
            uint64_t bit = left & -left;
            uint32_t id = i * 64 + (uint32_t)__builtin_ctzll(bit);
            bool all = false;
            uint64_t pc;

            if (sfb_seen_modules_has(seen, id))
                continue;
            /* Others may be unloaded at this very moment, and are not needed. */
            pc = pc_in_module(walk, id, &all);
            if (pc == 0) {
                if (all)
                    memo->modules[i] &= ~bit;
                continue;
            }
            if (!sfb_module_is_loaded(id, pc, seen->doubt)) {
                memset(memo->modules, 0, sizeof memo->modules);
                memo->any_modules = false;
                forget(walk);
                return false;
            }
            sfb_seen_modules_add(seen, id);
        }
    }
    return true;
}
