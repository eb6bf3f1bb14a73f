/*
 * The hot loop. A frame costs what its chain of dependent instructions costs: load the return
 * address, load the cache's word that it leads to, shift the CFA's offset out of it, add; all else
 * (whether the word is the right one, the bounds of the stack, where the frame goes) is computed
 * beside that and ends in branches that are never taken. Code with frame pointers has a shorter
 * chain: see sfb_arch_follow().
 *
 * Every check that the walker makes is made here. Where one fails nothing has been changed, and the
 * walker does the frame again, and says what is wrong with it.
 */
#include "unwind/capture/fast_walk.h"

#include <string.h>

#include "cbf/put.h"
#include "unwind/capture/memo.h"
#include "unwind/machine/arch.h"
#include "unwind/process/loader.h"
#include "unwind/process/module_cache.h"
#include "unwind/walk/rule_cache.h"

#define INLINE static inline __attribute__((always_inline))

#define PERMANENT ((uint64_t)SFB_MODULE_PERMANENT << SFB_RULE_CACHE_ID_SHIFT)

/* Asked once in a walk for each module that could have been unloaded. */
static __attribute__((noinline)) bool check_module(struct sfb_fast_walk *s, uint32_t id,
                                                   uint64_t key)
{
    if (id == 0 || !sfb_module_is_loaded(id, key - 1, s->seen.doubt))
        return false;
    sfb_seen_modules_add(&s->seen, id);
    return true;
}

bool sfb_fast_walk_check_module(struct sfb_fast_walk *s)
{
    return check_module(s, sfb_rule_cache_id(s->word), s->key);
}

/*
 * Whether the loop checks modules by itself, which is fastest. Those whose frame on the stack is
 * large leave it to their user, and are not on the stack then.
 */
enum look { LOOK_HERE, LEAVE_TO_LOOK };

INLINE bool is_loaded(struct sfb_fast_walk *s, uint32_t id, uint64_t key, enum look look)
{
    return sfb_seen_modules_has(&s->seen, id) || (look == LOOK_HERE && check_module(s, id, key));
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
        if (!(word & PERMANENT) && !is_loaded(s, sfb_rule_cache_id(word), key, look)) {
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
    /* Else the frame is still the one that it began with, and its pc may be less than the key. */
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
        memcpy(f->cbf, cbf, sizeof f->cbf); /* so many could have been written */
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
 * What a word of the rule cache says is true for as long as its module is there.
 *
 * @param inner  the frame that it is about
 */
INLINE void depend_on_module(struct sfb_memo_walk *memo, uint32_t id, uint32_t inner)
{
    if (!(id & SFB_MODULE_PERMANENT) &&
        __builtin_expect(!(memo->memo->new_modules[id / 64] >> id % 64 & 1), 0))
        add_module(memo, id, inner);
}

/* Tells the memo of the frame reached, and its bytes, if they are known. */
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
    /* Also of a known one: it may have been reached in another way. */
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
 * Puts the walk behind what the memo gave: on frame i, or on the frame further in if the sink has
 * no room for that one.
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
    uint32_t by_eh_frame; /* frames, where they are counted */
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

/* How the walk has ended, where `known` says whether the memo has the frame reached. */
static enum sfb_fast_walk_end ended(const struct sfb_fast_walk *s, struct sfb_memo_walk *memo,
                                    bool known, enum sfb_fast_walk_end end)
{
    /* That nothing comes behind a frame is a rule, too. */
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
    /* Not in the loop above, which few callers need it in, and which takes 1 ns a frame. */
    for (ptrdiff_t i = 1; count && i <= at - *out; i++)
        count_frame(count, frame[memo->outer - i].by_eh_frame);
    *out = at;
    return behind_known(s, memo, (uint32_t)(f - frame), refused);
}

/* --- CBF -------------------------------------------------------------------------------------- */

struct bytes {
    struct sfb_cbf_encoder *encoder; /* as it was when it was last looked at */
    uint8_t *at, *last_place;        /* where a frame of the largest size still fits */
    uint64_t last;
    uint32_t left;
    struct sfb_fast_walk_count count;
    struct sfb_memo_walk *memo;
    bool known;
};

static void give_back_bytes(struct bytes *b)
{
    if (b->at != b->encoder->pos)
        cbf_encoder_continue(b->encoder, b->at, b->last);
}

/* A frame that is equal to the one before is the encoder's business. */
static __attribute__((noinline)) bool repeat(struct bytes *b)
{
    give_back_bytes(b);
    if (sfb_cbf_encoder_put(b->encoder, SFB_FRAME_RA, b->last) != SFB_OK)
        return false;
    b->at = b->encoder->pos;
    return true;
}

INLINE bool put_cbf(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    struct bytes *b = sink;

    (void)sp;
    (void)fp;
    if (b->at > b->last_place || b->left == 0)
        return false;
    if (__builtin_expect(pc == b->last, 0)) {
        if (!repeat(b))
            return false;
    } else {
        b->at = cbf_put_ra(b->at, b->last, pc);
        b->last = pc;
    }
    b->left--;
    count_frame(&b->count, sfb_module_eh_frame[sfb_rule_cache_id(word)]);
    return true;
}

INLINE bool put_cbf_in_memo(void *sink, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t word)
{
    struct bytes *b = sink;
    const uint8_t *start = b->at;
    bool repeats = pc == b->last;

    if (!put_cbf(sink, pc, sp, fp, word))
        return false;
    b->known =
        record_frame(b->memo, pc, sp, fp, word, start, repeats ? 0 : (size_t)(b->at - start));
    return !b->known;
}

static struct bytes bytes_of(struct sfb_cbf_encoder *encoder, uint32_t left,
                             const struct sfb_fast_walk_count *count, struct sfb_memo_walk *memo)
{
    struct bytes b = { .encoder = encoder,
                       .at = encoder->pos,
                       .last_place = encoder->limit - SFB_CBF_FRAME_SIZE_MAX,
                       .last = encoder->last,
                       .left = left,
                       .count = *count,
                       .memo = memo };

    /* The first address of all is no common one. */
    if (encoder->limit - encoder->pos < SFB_CBF_FRAME_SIZE_MAX || encoder->first)
        b.left = 0;
    return b;
}

enum sfb_fast_walk_end sfb_fast_walk_cbf(struct sfb_fast_walk *s, struct sfb_cbf_encoder *encoder,
                                         uint32_t left, struct sfb_fast_walk_count *count,
                                         struct sfb_memo_walk *memo)
{
    struct bytes sink = bytes_of(encoder, left, count, memo);
    enum sfb_fast_walk_end end = memo ? walk_frames(s, put_cbf_in_memo, &sink, LEAVE_TO_LOOK)
                                      : walk_frames(s, put_cbf, &sink, LEAVE_TO_LOOK);

    give_back_bytes(&sink);
    *count = sink.count;
    return ended(s, memo, sink.known, end);
}

/* A frame whose bytes the memo does not have yet: nobody asked for them. */
static void put_without_bytes(struct bytes *b, struct sfb_memo_frame *f)
{
    const uint8_t *start = b->at;

    b->at = cbf_put_ra(b->at, b->last, f->key);
    keep_bytes(f, start, (size_t)(b->at - start));
}

/*
 * The frames of the memo from f outwards that repeat the last one, as many as there is room for.
 *
 * @return the last of them; NULL: there was no room for one
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
        count_frame(&b->count, (f - i)->by_eh_frame);
    return f - (done - 1);
}

enum sfb_fast_walk_end sfb_fast_walk_memo_cbf(struct sfb_fast_walk *s,
                                              struct sfb_cbf_encoder *encoder, uint32_t left,
                                              struct sfb_fast_walk_count *count,
                                              struct sfb_memo_walk *memo)
{
    struct bytes b = bytes_of(encoder, left, count, memo);
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
            struct sfb_memo_frame *last = put_repeats(&b, frame, f);

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
        count_frame(&b.count, f->by_eh_frame);
    }
    give_back_bytes(&b);
    *count = b.count;
    return behind_known(s, memo, (uint32_t)(f - frame), refused);
}

/* --- The outer end, and frames that nobody wants ---------------------------------------------- */

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
