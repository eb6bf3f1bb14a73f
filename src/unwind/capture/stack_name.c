/*
 * Most stacks equal the one before, but for a few inner frames. These are walked by the rule cache and recorded in the
 * memo; the frames further out are compared. This needs two caches and one loop. A walk may need more: a rule that is
 * not cached, a library that is new or was unloaded, an unknown stack. Then nothing has been changed, and the front door
 * walks the stack.
 *
 * memo.c says why a frame of the memo is valid. Here frames further in than the walk's first stay in the memo: a walk
 * that reaches them compares their callers. How the innermost of all was reached is unknown, and not needed.
 *
 * In code without frame pointers, fp is a general register and differs in each walk. Few frames depend on it: most rules
 * count from sp, and sooner or later a rule reads fp from the stack. A frame whose fp is overwritten before a rule needs it
 * (any_fp) matches by key and sp alone. The fp of the frames behind it may then be stale, up to the rule that reads fp:
 * these frames are any_fp, too. If the stack differs further out, carry_fp() restores them before a new rule may need fp.
 */
#include "unwind/capture/stack_name.h"

#include <string.h>

#include "unwind/capture/backtrace.h"
#include "unwind/capture/memo.h"
#include "unwind/capture/stack_hash.h"
#include "unwind/machine/arch.h"
#include "unwind/process/known_stack.h"
#include "unwind/process/loader_state.h"
#include "unwind/process/module_cache.h"
#include "unwind/walk/rule_cache.h"

#define PERMANENT ((uint64_t)SFB_MODULE_PERMANENT << SFB_RULE_CACHE_ID_SHIFT)

/* Most unloadable modules of one memo. Looking one up costs as much as some frames. */
enum { MODULES_MAX = 8 };

/* Must equal the capacity that sfb_memo_begin() computes. */
enum { CAPACITY = SFB_STACK_NAME_FRAMES };

/*
 * Tells whether all modules of the memo are still mapped, also modules of frames that have returned. If not, the front
 * door finds out which of them the stack needs.
 */
static __attribute__((noinline)) bool find_modules(struct sfb_stack_namer *namer)
{
    const struct sfb_memo *memo = (const struct sfb_memo *)(const void *)namer->memo;
    struct sfb_seen_modules seen;
    uint64_t start, size;
    unsigned asked = 0;

    sfb_seen_modules_begin(&seen);
    sfb_seen_modules_ask(&seen, 0);
    for (unsigned words = memo->words; words; words &= words - 1) {
        const unsigned i = (unsigned)__builtin_ctz(words);

        for (uint64_t left = memo->modules[i]; left; left &= left - 1) {
            const uint32_t id = i * 64 + (uint32_t)__builtin_ctzll(left);

            if (sfb_seen_modules_has(&seen, id))
                continue;
            sfb_module_id_place(id, &start, &size);
            if (asked++ == MODULES_MAX || !sfb_seen_modules_check(&seen, id, start))
                return false;
        }
    }
    namer->mapped_at = seen.count < SFB_SEEN_DOUBT ? seen.count : 0;
    return true;
}

/* A count never repeats: modules that came into the memo since then were mapped at the same count. */
static inline bool has_modules(struct sfb_stack_namer *namer)
{
    const uint64_t count = sfb_load_count();

    return (count != 0 && count == namer->mapped_at) || find_modules(namer);
}

/* Tells whether the memo is of the known stack at sp, and its modules are still mapped. hi: written, the stack's end */
static inline bool may_use(struct sfb_stack_namer *namer, uint64_t sp, uint64_t *hi)
{
    const struct sfb_memo *memo = (const struct sfb_memo *)(const void *)namer->memo;
    uint64_t lo;

    return sfb_known_stack_range(sp, &lo, hi) && (sp & 7) == 0 && memo->hi == *hi &&
           memo->complete && memo->hashed && !memo->busy && memo->count > 0 &&
           memo->frame[0].sp <= *hi &&
           (__builtin_expect(memo->words == 0, 1) || has_modules(namer));
}

static inline bool is_frame(const struct sfb_memo_frame *f, uint64_t key, uint64_t sp, uint64_t fp)
{
    return !((f->sp ^ sp) | (f->key ^ key) | ((f->fp ^ fp) & (f->any_fp - UINT64_C(1))) |
             f->interrupted);
}

/* Writes the fp of [f, end), of which end - 1 has the right one. */
static void carry_fp(struct sfb_memo_frame *f, struct sfb_memo_frame *end)
{
    for (struct sfb_memo_frame *at = end - 1; at > f; at--)
        at[-1].fp = at[-1].fp_read ? at[-1].fp_word : at->fp;
}

/* A new frame's callers are known. @param f  any_fp: its rule does not need fp */
static inline void judge_fp(struct sfb_memo_frame *f)
{
    f->any_fp &= f[-1].fp_read | f[-1].any_fp;
}

/*
 * Appends frames and their hashes to the matched ones.
 *
 * @param fresh  at the far end of the storage
 * @param first  the innermost frame, if it is new; its key is 0 if it is among the others
 *
 * @return the hash of all frames
 */
static inline uint64_t append(struct sfb_memo *memo, uint32_t outer,
                              const struct sfb_memo_frame *fresh,
                              const struct sfb_memo_frame *first)
{
    uint64_t *hash = (uint64_t *)(void *)(memo->frame + CAPACITY) + outer, value = hash[-1];
    struct sfb_memo_frame *f = memo->frame + outer;

    for (; fresh != memo->frame + CAPACITY; fresh++) {
        *f = *fresh;
        judge_fp(f++);
        value = sfb_stack_hash_add(value, fresh->key);
        *hash++ = value;
    }
    if (first->key) {
        *f = *first;
        judge_fp(f++);
        value = sfb_stack_hash_add(value, first->key);
        *hash = value;
    }
    memo->count = (uint32_t)(f - memo->frame);
    return value;
}

/* @return the outermost frame that the stack still leads to, from f outwards */
static inline struct sfb_memo_frame *follow(struct sfb_memo_frame *frame, struct sfb_memo_frame *f)
{
    while (f > frame && sfb_memo_holds(f - 1))
        f--;
    return f;
}

/* @return the end of the frames that are not further in than sp */
static inline struct sfb_memo_frame *leave_inner(const struct sfb_memo_frame *frame,
                                                 struct sfb_memo_frame *end, uint64_t sp)
{
    while (end > frame && end[-1].sp < sp)
        end--;
    return end;
}

/* Moves [f, end) in front of the new frames. @return the outermost; NULL: no room */
static inline struct sfb_memo_frame *keep_frames(struct sfb_memo *memo,
                                                 struct sfb_memo_frame *fresh,
                                                 const struct sfb_memo_frame *f,
                                                 const struct sfb_memo_frame *end)
{
    if (fresh - (end - f) < memo->frame + memo->count + 1)
        return NULL;
    return memmove(fresh - (end - f), f, (size_t)(end - f) * sizeof *f);
}

/* Tells whether a module is one of the memo, which has_modules() has found to be mapped. */
static inline bool is_module_of(const struct sfb_memo *memo, uint32_t id)
{
    return id != 0 && memo->words >> id / 64 & 1 && memo->modules[id / 64] >> id % 64 & 1;
}

/* @return false: the rule is not cached, or its module may be unloaded */
static inline bool step_by(const struct sfb_memo *memo, uint64_t word, uint64_t hi, uint64_t *key,
                           uint64_t *sp, uint64_t *fp)
{
    return ((word & PERMANENT) || is_module_of(memo, sfb_rule_cache_id(word))) &&
           sfb_arch_follow(word, hi, key, sp, fp);
}

/* @return the hash before sfb_stack_hash_end(). known: written, false: the memo does not suffice, no hash */
static inline uint64_t name_by_memo(struct sfb_stack_namer *namer, const struct sfb_regs *caller,
                                    bool *known)
{
    struct sfb_memo *const memo = (struct sfb_memo *)(void *)namer->memo;
    struct sfb_memo_frame *const frame = memo->frame, *fresh = frame + CAPACITY, *f, *end, *last;
    struct sfb_memo_frame first = { .key = 0 };
    uint64_t key = caller->pc, sp = caller->sp, fp = caller->fp, word = 0, hi = 0;

    *known = false;
    if (!may_use(namer, sp, &hi) || key >> SFB_ARCH_PC_BITS)
        return 0;
    for (end = frame + memo->count;;) {
        end = leave_inner(frame, end, sp);
        if (end == frame)
            return 0;
        f = end - 1;
        if (is_frame(f, key, sp, fp)) {
            /* It may have been reached from another callee, now gone. */
            if (word) {
                const bool any_fp = f->any_fp;

                sfb_memo_write(f, key, sp, fp, word);
                f->any_fp = any_fp;
                memo->count = (uint32_t)(end - frame);
            }
            f->fp = fp;
            f = follow(frame, f);
            if (f == frame)
                break;
            /* The unchanged frames belong to this walk: they move with the new ones. */
            carry_fp(f, end);
            fresh = keep_frames(memo, fresh, f, end);
            if (!fresh)
                return 0;
            key = f->key;
            sp = f->sp;
            fp = f->fp;
            end = f;
            last = fresh;
        } else if (word) {
            if (fresh == frame + memo->count + 1)
                return 0;
            sfb_memo_write(--fresh, key, sp, fp, word);
            fresh->any_fp = true;
            last = fresh;
        } else {
            first.key = key;
            first.sp = sp;
            first.fp = fp;
            first.any_fp = true;
            last = &first;
        }
        word = sfb_rule_cache_look(&sfb_live_rules, key);
        last->any_fp &= !sfb_arch_needs_fp(word);
        if (!step_by(memo, word, hi, &key, &sp, &fp))
            return 0;
    }
    *known = true;
    if (first.key || fresh != frame + CAPACITY)
        return append(memo, (uint32_t)(end - frame), fresh, &first);
    return ((const uint64_t *)(const void *)(frame + CAPACITY))[end - frame - 1];
}

/* A namer's memo always pays: it must not become idle. */
static __attribute__((noinline)) uint64_t name_by_walk(struct sfb_stack_namer *namer,
                                                       const struct sfb_regs *caller)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sfb_memo *memo = (struct sfb_memo *)(void *)namer->memo;
    struct sfb_context context;
    uint64_t hash = 0;

    if (memo->count > 0)
        carry_fp(memo->frame, memo->frame + memo->count); /* the front door compares each fp */
    memo->idle = 0;
    memo->balance = 0;
    sfb_arch_context(&context, caller);
    options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    options.memo = namer->memo;
    options.memo_size = sizeof namer->memo;
    options.hash = &hash;
    sfb_backtrace_addresses_from(namer->addresses, SFB_STACK_NAME_FRAMES, &options, NULL, &context);
    return hash + (hash == 0);
}

uint64_t sfb_stack_name(struct sfb_stack_namer *namer, const struct sfb_regs *caller)
{
    bool known;
    uint64_t hash = name_by_memo(namer, caller, &known);

    if (__builtin_expect(!known, 0))
        return name_by_walk(namer, caller);
    hash = sfb_stack_hash_end(hash);
    return hash + (hash == 0);
}

ssize_t sfb_stack_name_cbf(const struct sfb_regs *caller, void *out, size_t size,
                           enum sfb_status *end)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    struct sfb_context context;
    ssize_t written;

    sfb_arch_context(&context, caller);
    options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    options.max_frames = SFB_STACK_NAME_FRAMES;
    written = sfb_backtrace_cbf_from(out, size, &options, &info, &context);
    *end = info.end;
    return written;
}
