/*
 * The memo of a thread's last walk.
 *
 * Invariants:
 * - A frame's caller depends on its (pc, sp, fp), on the rule for the pc, and on the one or two stack
 *   words that the rule reads. Frame i of a memo leads to frame i - 1 while these words are unchanged
 *   and the rules' modules are still mapped. A walk may reach a frame of the memo, with all three
 *   registers equal. If the words of the frames further out are unchanged, the walk would find
 *   exactly these frames. So the memo is exact, and independent of threads and time.
 * - No word is read that the walk could not read. All lie above the sp of the matched frame and below
 *   the sp of the outermost frame, which must be within the known stack.
 * - Frames stand outermost first, so that a next walk's frames, further in, are only appended. A walk
 *   finds frames innermost first. They wait in that order at the far end of the storage until their
 *   place is known: see struct sfb_memo_walk.
 * - The storage is the caller's, and in use by one thread at a time. A walk in a signal handler runs
 *   without the memo if the interrupted walk is using it.
 *
 * A memo may come from a walk that was cut off. Frames beyond its outer end are not added: all frames would
 * have to move. If there are more of them than the memo has, or if that happens often, the memo is emptied, and
 * the next walk records all frames.
 *
 * Recording a frame costs more than matching one saves. If stacks have too little in common, a memo does not
 * pay: after a few such walks it is idle for a while, and for longer each time.
 */
#include "unwind/capture/memo.h"

#include <string.h>

#include "sframe_backtrace.h"
#include "unwind/capture/stack_hash.h"
#include "unwind/walk/rule_cache.h"

enum {
    CAPACITY_MAX = INT32_MAX / 2,
    LOSS_MAX = 32, /* of a walk, in matched frames; also the loss of a walk without a match */
    BALANCE_MIN = -4 * LOSS_MAX,
    BALANCE_MAX = 4 * LOSS_MAX,
    IDLE_WALKS = 32,
    IDLE_DOUBLED_MAX = 4,
    SECOND_CHANCES = 2, /* one walk to record, one that may match it */
    COST_OF_FRAME = 3,  /* of recording one, in matched frames */
    COST_OF_OTHER = 6,  /* if it differs from the frame before: its branches are mispredicted */
    COST_OF_WALK = 4,
    COST_OF_MODULE = 2, /* of finding the frame that needs it */
    COST_OF_BEYOND = 8,
    DEBT_MAX = 32768,
    FEW = 8, /* frames: added to a memo's size, so that small memos are tried too */
    WORDS = SFB_MODULE_PERMANENT / 64
};

_Static_assert(WORDS <= 8, "words have a bit each");

_Static_assert(sizeof(struct sfb_memo) == SFRAME_BACKTRACE_MEMO_BASE &&
                   sizeof(struct sfb_memo) + sizeof(struct sfb_memo_frame) ==
                       SFRAME_BACKTRACE_MEMO_SIZE(1) &&
                   SFRAME_BACKTRACE_MEMO_SIZE(1) + sizeof(uint64_t) ==
                       SFRAME_BACKTRACE_HASHED_MEMO_SIZE(1),
               "the header's macros give the size of a memo");

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
    /* First of all. A walk in a signal handler before this line leaves the memo consistent. */
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
    /* If the storage is smaller than last time, the caller may have reused the bytes of the inner frames. */
    if (memo->hi != hi || memo->count > capacity || memo->hashed != hashed) {
        memo->hi = hi;
        memo->hashed = hashed;
        memo->count = 0;
    }
    /* In one store: a load of bit-fields that were stored separately waits for the stores. */
    *out = (struct sfb_memo_walk){
        .memo = memo, .capacity = capacity & CAPACITY_MAX, .outer = memo->count, .fresh = capacity
    };
    if (memo->new_words)
        memset(memo->new_modules, 0, sizeof memo->new_modules);
    memo->new_words = 0;
    memo->checked = 0;
}

/* Drops all frames of the memo. */
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

/* @return whether the module overlaps another one of the set: one of the two was unloaded */
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

/* @return whether a module that is not in `known` overlaps another one */
static bool any_overlaps(const uint64_t *modules, const uint64_t *known)
{
    for (unsigned i = 0; i < WORDS; i++)
        for (uint64_t left = modules[i] & ~known[i]; left; left &= left - 1)
            if (overlaps(modules, i * 64 + (uint32_t)__builtin_ctzll(left)))
                return true;
    return false;
}

/*
 * Makes the fresh frames' modules the memo's; adds them to the old ones unless the whole memo is new. So a module goes
 * when its frames are gone.
 *
 * @return whether all of them can be mapped at once
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

/* Makes the memo idle, twice as long each time that its return was not worth while. */
static void leave_alone(struct sfb_memo *memo)
{
    memo->idle = (uint32_t)IDLE_WALKS << memo->doubled;
    if (memo->doubled < IDLE_DOUBLED_MAX)
        memo->doubled++;
}

/* Hashes the frames that the walk has not matched; matched frames have their hashes. */
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
    /* The memo's innermost frame may be one that the walk left out. */
    if (out->frames < memo->count)
        value = hash[out->frames - 1];
    else
        out->frames = memo->count;
    out->value = value;
}

/* @return the gain of the matched frames less the cost of the recorded ones */
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
 * Walking beyond frame 0 again and again comes to cost as much as recording all frames anew.
 *
 * @return whether it has cost that much, or whether more of this walk's stack lay beyond frame 0 than in the memo
 */
static bool is_too_short(struct sfb_memo_walk *walk, uint64_t sp)
{
    struct sfb_memo *memo = walk->memo;
    const struct sfb_memo_frame *frame = memo->frame;

    memo->debt = (uint16_t)(memo->debt + COST_OF_BEYOND);
    return memo->debt > COST_OF_FRAME * (FEW + (uint64_t)walk->matched) || memo->debt > DEBT_MAX ||
           sp - frame[0].sp > frame[0].sp - frame[walk->matched - 1].sp;
}

/* Tells whether the walk was part of the one before: no frame has to move, no module is new. */
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
    /* There is room: the fresh frames begin behind the matched ones. */
    walk->fresh -= count;
    memmove(&frame[walk->fresh], &frame[walk->outer], count * sizeof *frame);
    walk->matched = 0;
    add_old_modules(memo);
}

/* Modules that the memo needs and that this walk has not found yet. Valid: the words with a bit in memo->words. */
struct missing {
    uint64_t modules[WORDS];
    uint32_t count;
};

static uint64_t bit_of(uint32_t id)
{
    return 1ull << id % 64;
}

static void list_missing(struct missing *out, const struct sfb_memo *memo,
                         struct sfb_seen_modules *seen)
{
    out->count = 0;
    if (seen->count == SFB_SEEN_UNASKED)
        sfb_seen_modules_ask(seen, 0);
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

/* @return the missing module that contains a pc; 0: not found */
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
 * The missing module that contains a frame; 0: not found. Usually the rule cache has it. The entry may be evicted, or
 * name a module that was loaded at the same address later.
 */
static uint32_t missing_of(const struct missing *missing, const struct sfb_memo *memo, uint64_t key)
{
    uint32_t id = sfb_rule_cache_id(sfb_rule_cache_look(&sfb_live_rules, key));

    if (id & SFB_MODULE_PERMANENT)
        return 0;
    if (id != 0 && memo->modules[id / 64] & bit_of(id))
        return missing->modules[id / 64] & bit_of(id) ? id : 0; /* the memo's do not overlap */
    return search_missing(missing, memo->words, key - 1);
}

enum found { FOUND, GONE, NOT_ON_STACK, NOT_IN_MEMO };

/*
 * Looks up the modules of the memo's frames that are still on the stack, from the walk's frame outwards, up to `room`
 * frames. The modules of other frames are not needed: they may be being unloaded right now.
 *
 * @param marked  only frames with needs_module
 *
 * @return FOUND: all are mapped; GONE: one is not; else where the frames ended before all were found
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
        if (!sfb_seen_modules_check(seen, id, frame[i - 1].key - 1))
            return GONE;
        frame[i - 1].needs_module = true;
        if (walk->memo->checked < UINT8_MAX)
            walk->memo->checked++;
        missing->modules[id / 64] &= ~bit_of(id);
        if (--missing->count == 0)
            return FOUND;
    }
    return NOT_IN_MEMO;
}

/* @return whether all modules that frames on the stack need are still mapped */
static bool are_there(struct sfb_memo_walk *walk, struct missing *missing, uint32_t room,
                      struct sfb_seen_modules *seen)
{
    enum found found;
    bool marked = true;

    /* Marks are lost with their frames; so unmarked frames are tried next. (One call, so that it is inlined.) */
    while ((found = find_missing(walk, missing, room, seen, marked)) >= NOT_ON_STACK && marked)
        marked = false;
    if (found == NOT_IN_MEMO)
        for (unsigned words = walk->memo->words; words; words &= words - 1)
            walk->memo->modules[__builtin_ctz(words)] &= ~missing->modules[__builtin_ctz(words)];
    return found != GONE;
}

/* @return whether the modules that the frames need are still mapped; if not, the memo was emptied */
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

    /* Behind a signal's frame, or behind a page, less of the stack may be readable than last time. */
    if (memo->frame[0].sp > hi) {
        forget(walk);
        return false;
    }
    return memo->words == 0 || check_modules(walk, room, seen);
}
