/*
 * Most stacks are the one before, but for a few frames at the inner end: those are walked by the rule cache and written
 * into the memo, and the frames further out are compared. All that this needs is in two caches and one loop. Where more
 * is needed (a rule that is not in the cache, a library that may be unloaded, a stack that is not known) nothing has been
 * changed, and the front door does it.
 *
 * See memo.c for why a frame of the memo may be believed. Here frames further in than the walk's first stay in it: what
 * they lead to is compared when a walk comes to them. How the innermost of all was reached, nobody knows, and nobody asks.
 */
#include "unwind/capture/stack_name.h"

#include <string.h>

#include "unwind/capture/backtrace.h"
#include "unwind/capture/memo.h"
#include "unwind/capture/stack_hash.h"
#include "unwind/machine/arch.h"
#include "unwind/process/known_stack.h"
#include "unwind/process/module_cache.h"
#include "unwind/walk/rule_cache.h"

#define PERMANENT ((uint64_t)SFB_MODULE_PERMANENT << SFB_RULE_CACHE_ID_SHIFT)

/* As sfb_memo_begin() finds it. */
enum { CAPACITY = SFB_STACK_NAME_FRAMES };

/* Whether it is of the stack that is known to reach from sp to hi, and of permanent modules alone. */
static inline bool may_use(const struct sfb_memo *memo, uint64_t sp, uint64_t hi)
{
    const uint64_t lo = sfb_known_stack.lo;

    return sp - lo < hi - lo && (sp & 7) == 0 && memo->hi == hi && memo->complete && memo->hashed &&
           !memo->busy && memo->words == 0 && memo->count > 0 && memo->frame[0].sp <= hi;
}

static inline bool is_frame(const struct sfb_memo_frame *f, uint64_t key, uint64_t sp, uint64_t fp)
{
    return !((f->sp ^ sp) | (f->key ^ key) | (f->fp ^ fp) | f->interrupted);
}

/* Moves frames that have been written at the far end to behind the others, with their hashes. @return the innermost */
static uint64_t append(struct sfb_memo *memo, uint32_t outer, const struct sfb_memo_frame *fresh)
{
    uint64_t *hash = (uint64_t *)(void *)(memo->frame + CAPACITY), value = hash[outer - 1];
    const uint32_t count = (uint32_t)(memo->frame + CAPACITY - fresh);

    for (uint32_t i = 0; i < count; i++) {
        struct sfb_memo_frame *f = &memo->frame[outer + i];

        *f = fresh[i];
        value = sfb_stack_hash_add(value, f->key - f->interrupted);
        hash[outer + i] = value;
    }
    memo->count = outer + count;
    return value;
}

/* @return the hash as it is before its end; *known: there is one */
static inline uint64_t name_by_memo(struct sfb_memo *memo, const struct sfb_regs *caller,
                                    bool *known)
{
    const uint64_t hi = sfb_known_stack.gap_lo;
    struct sfb_memo_frame *const frame = memo->frame, *fresh = frame + CAPACITY;
    uint64_t key = caller->pc, sp = caller->sp, fp = caller->fp, word = 0;
    uint32_t outer = memo->count, i;

    *known = false;
    if (!may_use(memo, sp, hi) || key >> SFB_ARCH_PC_BITS)
        return 0;
    for (;;) {
        while (outer > 0 && frame[outer - 1].sp < sp)
            outer--;
        if (outer == 0)
            return 0;
        if (is_frame(&frame[outer - 1], key, sp, fp)) {
            /* It may have been reached in another way, from frames that it is not behind any more. */
            if (word) {
                sfb_memo_write(&frame[outer - 1], key, sp, fp, word);
                memo->count = outer;
            }
            for (i = outer - 1; i > 0 && sfb_memo_holds(&frame[i - 1]);)
                i--;
            if (i == 0)
                break;
            /* Those that hold are frames of this walk, too: they go with the new ones. */
            if ((uint32_t)(fresh - frame) < memo->count + (outer - i))
                return 0;
            fresh -= outer - i;
            memmove(fresh, &frame[i], (outer - i) * sizeof *frame);
            key = frame[i].key;
            sp = frame[i].sp;
            fp = frame[i].fp;
            outer = i;
        } else {
            if ((uint32_t)(fresh - frame) == memo->count)
                return 0;
            fresh--;
            if (word)
                sfb_memo_write(fresh, key, sp, fp, word);
            else
                *fresh = (struct sfb_memo_frame){ .key = key, .sp = sp, .fp = fp };
        }
        word = sfb_rule_cache_look(&sfb_live_rules, key);
        if (!(word & PERMANENT) || !sfb_arch_follow(word, hi, &key, &sp, &fp))
            return 0;
    }
    *known = true;
    if (fresh != frame + CAPACITY)
        return append(memo, outer, fresh);
    return ((const uint64_t *)(const void *)(frame + CAPACITY))[outer - 1];
}

/* The memo of such an owner is always worth while: it is not to be left alone. */
static __attribute__((noinline)) uint64_t name_by_walk(struct sfb_stack_namer *namer,
                                                       const struct sfb_regs *caller)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sfb_memo *memo = (struct sfb_memo *)(void *)namer->memo;
    struct sfb_context context;
    uint64_t hash = 0;

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
    uint64_t hash = name_by_memo((struct sfb_memo *)(void *)namer->memo, caller, &known);

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
