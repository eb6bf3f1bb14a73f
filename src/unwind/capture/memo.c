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
 * Frames of a walk that was cut are not added to the outer end of what it has in common with the memo: all
 * frames would have to move. If there are more of them than the memo has, or if that happens often, it is
 * emptied, and the next walk records all.
 *
 * To write a frame down costs more than to recognise one saves. Where stacks have too little in common a memo
 * does not pay: after a few such walks it is left alone for a while, which becomes longer.
 */
#include "unwind/capture/memo.h"

#include <string.h>

#include "sframe_backtrace.h"
#include "unwind/capture/stack_hash.h"
#include "unwind/process/loader.h"
#include "unwind/walk/rule_cache.h"

enum {
    CAPACITY_MAX = INT32_MAX / 2,
    LOSS_MAX = 32, /* of a walk, in frames that are given; also one in which none was */
    BALANCE_MIN = -4 * LOSS_MAX,
    BALANCE_MAX = 4 * LOSS_MAX,
    IDLE_WALKS = 32,
    IDLE_DOUBLED_MAX = 4,
    SECOND_CHANCES = 2, /* one walk to be recorded, one that may recognise it */
    COST_OF_FRAME = 3,  /* to write one down, in frames that are given */
    COST_OF_OTHER = 6,  /* if it is not what was there: its branches are mispredicted */
    COST_OF_WALK = 4,
    COST_OF_MODULE = 2, /* to find the frame that needs it */
    COST_OF_BEYOND = 8,
    DEBT_MAX = 32768,
    FEW = 8, /* frames: no memo is too small to be tried */
    WORDS = SFB_MODULE_PERMANENT / 64
};

_Static_assert(WORDS <= 8, "words have a bit each");

_Static_assert(sizeof(struct sfb_memo) == SFRAME_BACKTRACE_MEMO_BASE &&
                   sizeof(struct sfb_memo) + sizeof(struct sfb_memo_frame) ==
                       SFRAME_BACKTRACE_MEMO_SIZE(1) &&
                   SFRAME_BACKTRACE_MEMO_SIZE(1) + sizeof(uint64_t) ==
                       SFRAME_BACKTRACE_HASHED_MEMO_SIZE(1),
               "what callers are told to reserve");

static void give_back_memo(struct sfb_memo *memo)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memo->busy = 0;
}

void sfb_memo_begin(struct sfb_memo_walk *out, void *storage, size_t size, uint64_t hi, bool hashed)
{
    struct sfb_memo *memo = storage;
    enum { FRAME_SIZE = sizeof *memo->frame, HASHED_SIZE = FRAME_SIZE + sizeof(uint64_t) };
    uint32_t capacity;

    out->memo = NULL;
    if (!storage || (uintptr_t)storage % 8 != 0 ||
        size < sizeof *memo + (hashed ? HASHED_SIZE : FRAME_SIZE) || hi == 0 || memo->busy)
        return;
    /* First of all: a walk in a handler that comes before leaves the memo whole. */
    memo->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (memo->idle > 0) {
        if (--memo->idle == 0)
            memo->balance = BALANCE_MIN + SECOND_CHANCES * LOSS_MAX;
        give_back_memo(memo);
        return;
    }
    size -= sizeof *memo;
    size = hashed ? size / HASHED_SIZE : size / FRAME_SIZE; /* by constants: no division */
    capacity = size < CAPACITY_MAX ? (uint32_t)size : CAPACITY_MAX;
    /* A smaller storage than last time would have lost its inner frames to somebody else. */
    if (memo->hi != hi || memo->count > capacity || memo->hashed != hashed) {
        memo->hi = hi;
        memo->hashed = hashed;
        memo->count = 0;
    }
    /* At once: a load of bits that were stored apart waits for the store. */
    *out = (struct sfb_memo_walk){
        .memo = memo, .capacity = capacity & CAPACITY_MAX, .outer = memo->count, .fresh = capacity
    };
    if (memo->new_words)
        memset(memo->new_modules, 0, sizeof memo->new_modules);
    memo->new_words = 0;
    memo->checked = 0;
}

/* In a walk that stands on a frame of the memo, and then does not. */
static void forget(struct sfb_memo_walk *walk)
{
    walk->outer = 0;
    sfb_memo_discard_inner(walk);
}

static void add_old_modules(struct sfb_memo *memo)
{
    for (unsigned i = 0; i < WORDS; i++)
        memo->new_modules[i] |= memo->modules[i];
    memo->new_words |= memo->words;
}

/* @return whether a module lies where another one of them does: one of the two is gone */
static bool overlaps(const uint64_t *modules, uint32_t id)
{
    uint64_t start, size, other, other_size;

    sfb_module_id_place(id, &start, &size);
    for (unsigned i = 0; i < WORDS; i++) {
        for (uint64_t left = modules[i]; left; left &= left - 1) {
            uint32_t candidate = i * 64 + (uint32_t)__builtin_ctzll(left);

            sfb_module_id_place(candidate, &other, &other_size);
            if (candidate != id && start < other + other_size && other < start + size)
                return true;
        }
    }
    return false;
}

/* @return whether one of those that are not in `known` overlaps another */
static bool any_overlaps(const uint64_t *modules, const uint64_t *known)
{
    for (unsigned i = 0; i < WORDS; i++)
        for (uint64_t left = modules[i] & ~known[i]; left; left &= left - 1)
            if (overlaps(modules, i * 64 + (uint32_t)__builtin_ctzll(left)))
                return true;
    return false;
}

/*
 * Those of frames that are gone go with them, when the whole memo is new.
 *
 * @return whether all of them can be there at once
 */
static __attribute__((noinline)) bool keep_modules(struct sfb_memo *memo, bool all_new)
{
    bool good;

    if (!all_new)
        add_old_modules(memo);
    good = memo->new_words == 0 || !any_overlaps(memo->new_modules, memo->modules);
    memcpy(memo->modules, memo->new_modules, sizeof memo->modules);
    memo->words = memo->new_words;
    return good;
}

/* For a while, and for twice as long each time that it was not worth while to come back. */
static void leave_alone(struct sfb_memo *memo)
{
    memo->idle = (uint32_t)IDLE_WALKS << memo->doubled;
    if (memo->doubled < IDLE_DOUBLED_MAX)
        memo->doubled++;
}

/* Frames that the walk has matched have their hashes. */
static __attribute__((noinline)) void hash_frames(struct sfb_memo_hash *out,
                                                  const struct sfb_memo_walk *walk)
{
    struct sfb_memo *memo = walk->memo;
    const struct sfb_memo_frame *frame = memo->frame;
    uint64_t *hash = (uint64_t *)(void *)(memo->frame + walk->capacity);
    uint64_t value = walk->matched > 0 ? hash[walk->matched - 1] : SFB_STACK_HASH_START;

    for (uint32_t i = walk->matched; i < memo->count; i++) {
        value = sfb_stack_hash_add(value, frame[i].key - frame[i].interrupted);
        hash[i] = value;
    }
    /* Its innermost frame may be one that was left out. */
    if (out->frames < memo->count)
        value = hash[out->frames - 1];
    else
        out->frames = memo->count;
    out->value = value;
}

/* @return what the frames that the memo gave were worth, less what those cost that had to be written down */
static int32_t gain_of(const struct sfb_memo_walk *walk)
{
    const int64_t given = walk->matched - walk->outer, written = walk->capacity - walk->fresh;
    const int64_t gain = given - COST_OF_WALK - COST_OF_OTHER * written -
                         (int64_t)COST_OF_MODULE * walk->memo->checked;

    if (walk->matched == 0 || gain < -LOSS_MAX)
        return walk->paid ? 0 : -LOSS_MAX;
    return gain < BALANCE_MAX ? (int32_t)gain : BALANCE_MAX;
}

static void balance(struct sfb_memo *memo, int32_t gain)
{
    memo->balance += gain;
    if (memo->balance > BALANCE_MAX)
        memo->balance = BALANCE_MAX;
    if (memo->balance <= BALANCE_MIN)
        leave_alone(memo);
    else if (memo->balance > 0)
        memo->doubled = 0;
}

/*
 * Where walks go on beyond frame 0 again and again, that comes to cost as much as to record all of them anew.
 *
 * @return whether it has, or whether more of this walk's stack lay there than the memo knew of it
 */
static bool is_too_short(struct sfb_memo_walk *walk, uint64_t sp)
{
    struct sfb_memo *memo = walk->memo;
    const struct sfb_memo_frame *frame = memo->frame;

    memo->debt = (uint16_t)(memo->debt + COST_OF_BEYOND);
    return memo->debt > COST_OF_FRAME * (FEW + (uint64_t)walk->matched) || memo->debt > DEBT_MAX ||
           sp - frame[0].sp > frame[0].sp - frame[walk->matched - 1].sp;
}

/* The walk was part of the one before: nothing has to be moved, and no module is new. */
static inline bool has_nothing_new(const struct sfb_memo_walk *walk)
{
    return walk->matched > 0 && walk->fresh == walk->capacity && walk->memo->new_words == 0 &&
           !walk->beyond;
}

static __attribute__((noinline)) void end_changed(struct sfb_memo_walk *walk, uint64_t sp,
                                                  bool complete, struct sfb_memo_hash *hash)
{
    struct sfb_memo *memo = walk->memo;
    const int32_t gain = gain_of(walk);
    uint32_t fresh;

    if ((memo->new_words | (walk->matched == 0 ? memo->words : 0)) != 0 &&
        !keep_modules(memo, walk->matched == 0))
        forget(walk);
    if (walk->beyond && is_too_short(walk, sp))
        forget(walk);
    if (walk->matched == 0) {
        memo->complete = complete;
        memo->debt = 0;
    }
    fresh = walk->capacity - walk->fresh;
    if (fresh > 0 && walk->fresh != walk->matched)
        memmove(&memo->frame[walk->matched], &memo->frame[walk->fresh],
                fresh * sizeof *memo->frame);
    memo->count = walk->matched + fresh;
    if (hash && hash->frames > 0)
        hash_frames(hash, walk);
    balance(memo, gain);
    give_back_memo(memo);
}

void sfb_memo_end(struct sfb_memo_walk *walk, uint64_t sp, bool complete,
                  struct sfb_memo_hash *hash)
{
    struct sfb_memo *memo = walk->memo;

    if (hash || !has_nothing_new(walk)) {
        end_changed(walk, sp, complete, hash);
        return;
    }
    memo->count = walk->matched;
    balance(memo, gain_of(walk));
    give_back_memo(memo);
}

void sfb_memo_discard_inner(struct sfb_memo_walk *walk)
{
    walk->fresh = walk->capacity;
    walk->matched = 0;
    walk->beyond = false;
}

void sfb_memo_diverge(struct sfb_memo_walk *walk)
{
    struct sfb_memo *memo = walk->memo;
    struct sfb_memo_frame *frame = memo->frame;
    uint32_t count = walk->matched - walk->outer;

    if (walk->outer == 0 && !memo->hashed) {
        walk->beyond = true;
        return;
    }
    walk->paid = gain_of(walk) > 0;
    /* There is room: the fresh ones begin behind what was matched. */
    walk->fresh -= count;
    memmove(&frame[walk->fresh], &frame[walk->outer], count * sizeof *frame);
    walk->matched = 0;
    add_old_modules(memo);
}

/* Modules that the memo needs and that this walk has not found yet. Only those words count that the memo has. */
struct missing {
    uint64_t modules[WORDS];
    uint32_t count;
};

static uint64_t bit_of(uint32_t id)
{
    return 1ull << id % 64;
}

static void list_missing(struct missing *out, const struct sfb_memo *memo,
                         const struct sfb_seen_modules *seen)
{
    out->count = 0;
    for (unsigned words = memo->words; words; words &= words - 1) {
        const unsigned i = (unsigned)__builtin_ctz(words);

        out->modules[i] = memo->modules[i];
        for (uint64_t left = memo->modules[i]; left; left &= left - 1) {
            uint32_t id = i * 64 + (uint32_t)__builtin_ctzll(left);

            if (sfb_seen_modules_has(seen, id))
                out->modules[i] &= ~bit_of(id);
            else
                out->count++;
        }
    }
}

/* @return which of them a pc is in; 0: in none */
static uint32_t search_missing(const struct missing *missing, unsigned words, uint64_t pc)
{
    uint64_t start, size;

    for (; words; words &= words - 1) {
        const unsigned i = (unsigned)__builtin_ctz(words);

        for (uint64_t left = missing->modules[i]; left; left &= left - 1) {
            uint32_t id = i * 64 + (uint32_t)__builtin_ctzll(left);

            sfb_module_id_place(id, &start, &size);
            if (pc - start < size)
                return id;
        }
    }
    return 0;
}

/*
 * The missing module that a frame is in; 0: there is none. The rule cache knows as a rule. It may have
 * forgotten, or know of a module that took the place of the memo's.
 */
static uint32_t missing_of(const struct missing *missing, const struct sfb_memo *memo, uint64_t key)
{
    uint32_t id = sfb_rule_cache_id(sfb_rule_cache_look(&sfb_live_rules, key));

    if (id & SFB_MODULE_PERMANENT)
        return 0;
    if (id != 0 && memo->modules[id / 64] & bit_of(id))
        return missing->modules[id / 64] & bit_of(id) ? id : 0; /* no two of the memo's overlap */
    return search_missing(missing, memo->words, key - 1);
}

enum found { FOUND, GONE, NOT_ON_STACK, NOT_IN_MEMO };

/*
 * Looks for the modules of those frames of the memo that are on the stack now, from the one that the
 * walk stands on outwards, as far as there is room for them. Others may be unloaded at this very moment, and are not needed.
 *
 * @param marked  only of those that are known to need one
 *
 * @return FOUND: all are there; GONE: one is not; else where the frames ended before all were found
 */
static enum found find_missing(struct sfb_memo_walk *walk, struct missing *missing, uint32_t room,
                               struct sfb_seen_modules *seen, bool marked)
{
    struct sfb_memo_frame *frame = walk->memo->frame;

    for (uint32_t i = walk->matched; i > 0; i--) {
        uint32_t id;

        if (walk->matched - i > room || (i < walk->matched && !sfb_memo_holds(&frame[i - 1])))
            return NOT_ON_STACK;
        if (marked && !frame[i - 1].needs_module)
            continue;
        id = missing_of(missing, walk->memo, frame[i - 1].key);
        if (id == 0)
            continue;
        if (!sfb_module_is_loaded(id, frame[i - 1].key - 1, seen->doubt))
            return GONE;
        frame[i - 1].needs_module = true;
        sfb_seen_modules_add(seen, id);
        if (walk->memo->checked < UINT8_MAX)
            walk->memo->checked++;
        missing->modules[id / 64] &= ~bit_of(id);
        if (--missing->count == 0)
            return FOUND;
    }
    return NOT_IN_MEMO;
}

/* @return whether all are there of those that frames on the stack need */
static bool are_there(struct sfb_memo_walk *walk, struct missing *missing, uint32_t room,
                      struct sfb_seen_modules *seen)
{
    enum found found;
    bool marked = true;

    /* Marks are lost with the frames that have them. (One call, so that it is inlined.) */
    while ((found = find_missing(walk, missing, room, seen, marked)) >= NOT_ON_STACK && marked)
        marked = false;
    if (found == NOT_IN_MEMO)
        for (unsigned words = walk->memo->words; words; words &= words - 1)
            walk->memo->modules[__builtin_ctz(words)] &= ~missing->modules[__builtin_ctz(words)];
    return found != GONE;
}

/* @return whether the modules are there that the frames need; if not, the memo is empty now */
static __attribute__((noinline)) bool check_modules(struct sfb_memo_walk *walk, uint32_t room,
                                                    struct sfb_seen_modules *seen)
{
    struct sfb_memo *memo = walk->memo;
    struct missing missing;

    list_missing(&missing, memo, seen);
    if (missing.count == 0 || are_there(walk, &missing, room, seen))
        return true;
    memset(memo->modules, 0, sizeof memo->modules);
    memo->words = 0;
    forget(walk);
    return false;
}

bool sfb_memo_check(struct sfb_memo_walk *walk, uint64_t hi, uint32_t room,
                    struct sfb_seen_modules *seen)
{
    struct sfb_memo *memo = walk->memo;

    /* What a walk goes on to behind a signal's frame, or behind a page, can be less than it was. */
    if (memo->frame[0].sp > hi) {
        forget(walk);
        return false;
    }
    return memo->words == 0 || check_modules(walk, room, seen);
}
