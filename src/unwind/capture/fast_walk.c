/*
 * The hot loop. A frame costs its chain of dependent instructions: load the return address, load its
 * word from the rule cache, shift the CFA's offset out of the word, add. All else runs in parallel and
 * ends in branches that are never taken: the check of the word, the bounds of the stack, the output of
 * the frame. Code with frame pointers has a shorter chain: see sfb_arch_follow().
 *
 * Every check of the walker is made here. If one fails, nothing has been changed. Then the walker
 * takes the frame again, and gives the status.
 */
#include "unwind/capture/fast_walk.h"

#include <string.h>

#include "cbf/put.h"
#include "unwind/capture/memo.h"
#include "unwind/machine/arch.h"
#include "unwind/process/module_cache.h"
#include "unwind/walk/rule_cache.h"

#define INLINE static inline __attribute__((always_inline))

#define PERMANENT ((uint64_t)SFB_MODULE_PERMANENT << SFB_RULE_CACHE_ID_SHIFT)

bool sfb_fast_walk_check_module(struct sfb_fast_walk *s)
{
    return sfb_seen_modules_check(&s->seen, sfb_rule_cache_id(s->word), s->key - 1);
}

/*
 * LOOK_HERE: the loop checks modules itself, which is fastest. LEAVE_TO_LOOK: loops with a large
 * stack frame end instead, and their caller checks: their frame is not on the stack then.
 */
enum look { LOOK_HERE, LEAVE_TO_LOOK };

static __attribute__((noinline)) bool is_known(struct sfb_fast_walk *s, uint32_t id)
{
    return sfb_seen_modules_has(&s->seen, id) ||
           (s->seen.count == SFB_SEEN_UNASKED && sfb_seen_modules_ask(&s->seen, id));
}

/* Only the first comparison is in the loop: the others would take registers from it. */
INLINE bool is_loaded(struct sfb_fast_walk *s, uint64_t word, uint64_t key, enum look look)
{
    const uint32_t id = sfb_rule_cache_id(word);

    return sfb_seen_modules_are_there(&s->seen, id) ||
           (look == LOOK_HERE ? sfb_seen_modules_check(&s->seen, id, key - 1) : is_known(s, id));
}

/* Takes a frame, a return address. @return whether the walk may go on */
typedef bool put_fn(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word);

INLINE enum sfb_fast_walk_end walk_frames(struct sfb_fast_walk *s, put_fn *put, void *sink,
                                          enum look look)
{
    uint64_t key = s->key, sp = s->sp, fp = s->fp, hi = s->hi, word;
    enum sfb_fast_walk_end end = SFB_FAST_WALK_NEEDS_WALKER;

    if (hi == 0 || key >> SFB_ARCH_PC_BITS)
        return SFB_FAST_WALK_NEEDS_WALKER;
    for (;;) {
        word = sfb_rule_cache_look(&sfb_live_rules, key);
        if (!(word & PERMANENT) && !is_loaded(s, word, key, look)) {
            if (look == LEAVE_TO_LOOK)
                end = SFB_FAST_WALK_CHECK_MODULE;
            break;
        }
        if (__builtin_expect(!sfb_arch_follow(word, hi, &key, &sp, &fp), 0)) {
            if (word >> SFB_ARCH_PC_BITS == 0)
                end = SFB_FAST_WALK_OUTERMOST;
            break;
        }
        if (__builtin_expect(!put(sink, key, sp, fp, word), 0)) {
            end = SFB_FAST_WALK_SINK_FULL;
            break;
        }
    }
    /* If sp is unchanged, this is still the first frame, and its pc may be key - 1. */
    if (sp != s->sp)
        s->pc = key;
    s->key = key;
    s->sp = sp;
    s->fp = fp;
    s->word = word;
    s->by_eh_frame = sfb_module_eh_frame[sfb_rule_cache_id(word)];
    return end;
}

static enum sfb_source source_of(uint64_t word)
{
    return sfb_module_eh_frame[sfb_rule_cache_id(word)] ? SFB_SOURCE_EH_FRAME : SFB_SOURCE_SFRAME;
}

enum sfb_source sfb_fast_walk_source(const struct sfb_fast_walk *s)
{
    return s->by_eh_frame ? SFB_SOURCE_EH_FRAME : SFB_SOURCE_SFRAME;
}

INLINE void count_frame(struct sfb_fast_walk_count *count, uint32_t by_eh_frame)
{
    count->frames++;
    count->by_eh_frame += by_eh_frame;
}

/* --- The memo --------------------------------------------------------------------------------- */

INLINE void keep_bytes(struct sfb_memo_frame *f, const uint8_t *cbf, size_t size)
{
    if (size > 0 && size <= SFB_MEMO_CBF_MAX) {
        memcpy(f->cbf, cbf, sizeof f->cbf); /* of a fixed size: the buffer has that many bytes */
        f->cbf_size = (uint8_t)(size & SFB_MEMO_CBF_MAX);
    }
}

static __attribute__((noinline)) void add_module(struct sfb_memo_walk *memo, uint32_t id,
                                                 uint32_t inner)
{
    memo->memo->new_modules[id / 64] |= 1ull << id % 64;
    memo->memo->new_words |= (uint8_t)(1u << id / 64);
    if (inner < memo->capacity)
        memo->memo->frame[inner].needs_module = true;
}

/*
 * A word of the rule cache is valid while its module is mapped: makes the memo depend on the module.
 *
 * @param inner  the frame whose rule it is
 */
INLINE void depend_on_module(struct sfb_memo_walk *memo, uint32_t id, uint32_t inner)
{
    if (!(id & SFB_MODULE_PERMANENT) &&
        __builtin_expect(!(memo->memo->new_modules[id / 64] >> id % 64 & 1), 0))
        add_module(memo, id, inner);
}

/* Writes the walk's present frame to the memo, with its bytes of CBF if known. @return whether the memo had the frame */
INLINE bool record_frame(struct sfb_memo_walk *memo, uint64_t pc, uint64_t sp, uint64_t fp,
                         uint64_t word, const uint8_t *cbf, size_t cbf_size)
{
    struct sfb_memo_frame *f = sfb_memo_find(memo, pc, sp, fp, false);
    uint32_t id = sfb_rule_cache_id(word);
    bool known = f != NULL;

    if (!known)
        f = sfb_memo_add(memo);
    if (!f)
        return false;
    /* Also for a known frame: it may have been reached from another callee. */
    sfb_memo_write(f, pc, sp, fp, word);
    keep_bytes(f, cbf, cbf_size);
    depend_on_module(memo, id, memo->fresh + !known);
    return known;
}

bool sfb_fast_walk_record(struct sfb_fast_walk *s, struct sfb_memo_walk *memo)
{
    return record_frame(memo, s->key, s->sp, s->fp, s->word, NULL, 0);
}

bool sfb_fast_walk_record_first(const struct sfb_fast_walk *s, struct sfb_memo_walk *memo)
{
    bool interrupted = s->key != s->pc;
    struct sfb_memo_frame *f = sfb_memo_find(memo, s->key, s->sp, s->fp, interrupted);

    if (f)
        return true;
    f = sfb_memo_add(memo);
    if (f)
        *f = (struct sfb_memo_frame){
            .key = s->key, .sp = s->sp, .fp = s->fp, .interrupted = interrupted
        };
    return false;
}

/*
 * Puts the walk behind the memo's frames: on frame i, or on its callee if the sink had no room for
 * frame i.
 */
static enum sfb_fast_walk_end behind_known(struct sfb_fast_walk *s, struct sfb_memo_walk *memo,
                                           uint32_t i, bool refused)
{
    const struct sfb_memo_frame *f = &memo->memo->frame[i];

    memo->outer = i;
    s->key = f->key;
    s->pc = f->key - f->interrupted;
    s->sp = f->sp;
    s->fp = f->fp;
    s->by_eh_frame = f->by_eh_frame;
    if (refused)
        return SFB_FAST_WALK_SINK_FULL;
    if (i == 0 && memo->memo->complete)
        return SFB_FAST_WALK_OUTERMOST;
    sfb_memo_diverge(memo);
    return SFB_FAST_WALK_MEMO_DIVERGED;
}

/* --- Addresses -------------------------------------------------------------------------------- */

struct addresses {
    void **at, **end;
    struct sfb_memo_walk *memo;
    uint32_t by_eh_frame; /* frames; 0 if not counted */
    bool known;
};

INLINE bool put_address(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    struct addresses *a = sink;

    (void)sp;
    (void)fp;
    (void)word;
    if (a->at == a->end)
        return false;
    *a->at++ = (void *)(uintptr_t)pc; /* NOLINT(performance-no-int-to-ptr) */
    return true;
}

INLINE void count_address(struct addresses *a, uint64_t word)
{
    a->by_eh_frame += sfb_module_eh_frame[sfb_rule_cache_id(word)];
}

INLINE bool put_and_count_address(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    if (!put_address(sink, pc, sp, fp, word))
        return false;
    count_address(sink, word);
    return true;
}

INLINE bool put_address_in_memo(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    struct addresses *a = sink;

    if (!put_address(sink, pc, sp, fp, word))
        return false;
    a->known = record_frame(a->memo, pc, sp, fp, word, NULL, 0);
    return !a->known;
}

INLINE bool put_and_count_address_in_memo(void *sink, uint64_t pc, uint64_t sp, uint64_t fp,
                                          uint64_t word)
{
    struct addresses *a = sink;
    void **at = a->at;
    bool more = put_address_in_memo(sink, pc, sp, fp, word);

    if (a->at != at)
        count_address(sink, word);
    return more;
}

/* @return how the walk has ended. known: the memo has the frame reached */
static enum sfb_fast_walk_end ended(const struct sfb_fast_walk *s, struct sfb_memo_walk *memo,
                                    bool known, enum sfb_fast_walk_end end)
{
    /* "Outermost" is a rule too, and depends on its module. */
    if (memo && end == SFB_FAST_WALK_OUTERMOST)
        depend_on_module(memo, sfb_rule_cache_id(s->word), memo->fresh);
    return known ? SFB_FAST_WALK_MEMO_HIT : end;
}

enum sfb_fast_walk_end sfb_fast_walk_addresses(struct sfb_fast_walk *s, void ***out, void **end,
                                               struct sfb_memo_walk *memo)
{
    struct addresses sink = { .at = *out, .end = end, .memo = memo };
    enum sfb_fast_walk_end status = memo ? walk_frames(s, put_address_in_memo, &sink, LOOK_HERE)
                                         : walk_frames(s, put_address, &sink, LOOK_HERE);

    *out = sink.at;
    return ended(s, memo, sink.known, status);
}

enum sfb_fast_walk_end sfb_fast_walk_counted_addresses(struct sfb_fast_walk *s, void ***out,
                                                       void **end,
                                                       struct sfb_fast_walk_count *count,
                                                       struct sfb_memo_walk *memo)
{
    struct addresses sink = { .at = *out, .end = end, .memo = memo };
    enum sfb_fast_walk_end status =
        memo ? walk_frames(s, put_and_count_address_in_memo, &sink, LEAVE_TO_LOOK)
             : walk_frames(s, put_and_count_address, &sink, LEAVE_TO_LOOK);

    count->frames += (uint32_t)(sink.at - *out);
    count->by_eh_frame += sink.by_eh_frame;
    *out = sink.at;
    return ended(s, memo, sink.known, status);
}

enum sfb_fast_walk_end sfb_fast_walk_memo_addresses(struct sfb_fast_walk *s, void ***out,
                                                    void **end, struct sfb_fast_walk_count *count,
                                                    struct sfb_memo_walk *memo)
{
    const struct sfb_memo_frame *frame = memo->memo->frame, *f = frame + memo->outer;
    void **at = *out;
    bool refused = false;

    while (f > frame && sfb_memo_holds(f - 1)) {
        f--;
        refused = at == end;
        if (refused)
            break;
        *at++ = (void *)(uintptr_t)f->key; /* NOLINT(performance-no-int-to-ptr) */
    }
    /* Not in the loop above: it takes 1 ns a frame, and few callers count. */
    for (ptrdiff_t i = 1; count && i <= at - *out; i++)
        count_frame(count, frame[memo->outer - i].by_eh_frame);
    *out = at;
    return behind_known(s, memo, (uint32_t)(f - frame), refused);
}

/* --- CBF -------------------------------------------------------------------------------------- */

struct bytes {
    struct sfb_cbf_encoder *encoder; /* state before these bytes: see give_back_bytes() */
    uint8_t *at, *last_place;        /* a frame of the largest size fits up to last_place */
    uint64_t last;
    uint32_t room, left; /* frames */
    uint32_t by_eh_frame;
    bool known;
    struct sfb_memo_walk *memo;
};

/* Updates the encoder. (Functions with a pointer to the struct are inline: so its members stay in registers.) */
INLINE void give_back_bytes(struct bytes *b)
{
    if (b->at != b->encoder->pos)
        cbf_encoder_continue(b->encoder, b->at, b->last);
}

/* Leaves a frame that equals the one before to the encoder. @return behind it; NULL: no room */
static __attribute__((noinline)) uint8_t *repeat(struct sfb_cbf_encoder *encoder, uint8_t *at,
                                                 uint64_t last)
{
    if (at != encoder->pos)
        cbf_encoder_continue(encoder, at, last);
    return sfb_cbf_encoder_put(encoder, SFB_FRAME_RA, last) == SFB_OK ? encoder->pos : NULL;
}

INLINE bool put_cbf(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    struct bytes *b = sink;

    (void)sp;
    (void)fp;
    (void)word;
    if (b->at > b->last_place || b->left == 0)
        return false;
    if (__builtin_expect(pc == b->last, 0)) {
        uint8_t *at = repeat(b->encoder, b->at, pc);

        if (!at)
            return false;
        b->at = at;
    } else {
        b->at = cbf_put_ra(b->at, b->last, pc);
        b->last = pc;
    }
    b->left--;
    return true;
}

INLINE bool put_cbf_and_count(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    struct bytes *b = sink;

    if (!put_cbf(sink, pc, sp, fp, word))
        return false;
    b->by_eh_frame += sfb_module_eh_frame[sfb_rule_cache_id(word)];
    return true;
}

INLINE bool put_cbf_in_memo(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    struct bytes *b = sink;
    const uint8_t *start = b->at;
    bool repeats = pc == b->last;

    if (!put_cbf_and_count(sink, pc, sp, fp, word))
        return false;
    b->known =
        record_frame(b->memo, pc, sp, fp, word, start, repeats ? 0 : (size_t)(b->at - start));
    return !b->known;
}

INLINE struct bytes bytes_of(struct sfb_cbf_encoder *encoder, uint32_t left,
                             struct sfb_memo_walk *memo)
{
    struct bytes b = { .encoder = encoder,
                       .at = encoder->pos,
                       .last_place = encoder->limit - SFB_CBF_FRAME_SIZE_MAX,
                       .last = encoder->last,
                       .left = left,
                       .memo = memo };

    /* The first address must be absolute: the encoder writes it. */
    if (encoder->limit - encoder->pos < SFB_CBF_FRAME_SIZE_MAX || encoder->first)
        b.left = 0;
    b.room = b.left;
    return b;
}

INLINE void count_bytes(struct sfb_fast_walk_count *count, const struct bytes *b)
{
    count->frames += b->room - b->left;
    count->by_eh_frame += b->by_eh_frame;
}

enum sfb_fast_walk_end sfb_fast_walk_cbf(struct sfb_fast_walk *s, struct sfb_cbf_encoder *encoder,
                                         uint32_t left, struct sfb_fast_walk_count *count,
                                         bool sources, struct sfb_memo_walk *memo)
{
    struct bytes sink = bytes_of(encoder, left, memo);
    enum sfb_fast_walk_end end = memo      ? walk_frames(s, put_cbf_in_memo, &sink, LEAVE_TO_LOOK)
                                 : sources ? walk_frames(s, put_cbf_and_count, &sink, LEAVE_TO_LOOK)
                                           : walk_frames(s, put_cbf, &sink, LEAVE_TO_LOOK);

    give_back_bytes(&sink);
    count_bytes(count, &sink);
    return ended(s, memo, sink.known, end);
}

/* Writes a frame that the memo has without CBF: no walk needed the bytes before. Keeps them. */
INLINE void put_without_bytes(struct bytes *b, struct sfb_memo_frame *f)
{
    const uint8_t *start = b->at;

    b->at = cbf_put_ra(b->at, b->last, f->key);
    keep_bytes(f, start, (size_t)(b->at - start));
}

/*
 * Writes the memo's frames from f outwards that repeat the last one, as many as fit.
 *
 * @return the outermost of them; NULL: not even one fits
 */
static __attribute__((noinline)) struct sfb_memo_frame *put_repeats(
    struct bytes *b, const struct sfb_memo_frame *frame, struct sfb_memo_frame *f)
{
    uint32_t count = 1, done;

    /* The first may follow a frame of another kind. */
    give_back_bytes(b);
    if (sfb_cbf_encoder_put(b->encoder, SFB_FRAME_RA, b->last) != SFB_OK)
        return NULL;
    while (count < b->left && count <= f - frame && (f - count)->key == b->last &&
           sfb_memo_holds(f - count))
        count++;
    done = 1 + cbf_encoder_repeat(b->encoder, count - 1);
    b->at = b->encoder->pos;
    b->left -= done;
    for (uint32_t i = 0; i < done; i++)
        b->by_eh_frame += (f - i)->by_eh_frame;
    return f - (done - 1);
}

enum sfb_fast_walk_end sfb_fast_walk_memo_cbf(struct sfb_fast_walk *s,
                                              struct sfb_cbf_encoder *encoder, uint32_t left,
                                              struct sfb_fast_walk_count *count,
                                              struct sfb_memo_walk *memo)
{
    struct bytes b = bytes_of(encoder, left, memo);
    struct sfb_memo_frame *frame = memo->memo->frame, *f = frame + memo->outer;
    bool refused = false;

    while (f > frame && sfb_memo_holds(f - 1)) {
        f--;
        refused = b.at > b.last_place || b.left == 0;
        if (refused)
            break;
        if (__builtin_expect(f->cbf_size != 0, 1)) {
            memcpy(b.at, f->cbf, sizeof f->cbf);
            b.at += f->cbf_size;
        } else if (f->key == b.last) {
            struct bytes copy = b; /* so that b stays in registers */
            struct sfb_memo_frame *last = put_repeats(&copy, frame, f);

            b = copy;
            refused = last == NULL;
            if (refused)
                break;
            f = last;
            continue;
        } else {
            put_without_bytes(&b, f);
        }
        b.last = f->key;
        b.left--;
        b.by_eh_frame += f->by_eh_frame;
    }
    give_back_bytes(&b);
    count_bytes(count, &b);
    return behind_known(s, memo, (uint32_t)(f - frame), refused);
}

/* --- The outer end, and frames that are skipped ----------------------------------------------- */

INLINE bool put_outer(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    (void)sp;
    (void)fp;
    sfb_tail_ring_push(sink, SFB_FRAME_RA, source_of(word), pc);
    return true;
}

enum sfb_fast_walk_end sfb_fast_walk_tail(struct sfb_fast_walk *s, struct sfb_tail_ring *outer)
{
    return walk_frames(s, put_outer, outer, LEAVE_TO_LOOK);
}

INLINE bool put_nowhere(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    uint32_t *skip = sink;

    (void)pc;
    (void)sp;
    (void)fp;
    (void)word;
    if (*skip == 0)
        return false;
    --*skip;
    return true;
}

enum sfb_fast_walk_end sfb_fast_walk_skip(struct sfb_fast_walk *s, uint32_t *skip)
{
    return walk_frames(s, put_nowhere, skip, LEAVE_TO_LOOK);
}
