/*
 * The memo: a thread's last walk, frame by frame, with the addresses of each frame's words. The outer
 * part of a stack seldom changes between walks. Unchanged frames are only compared: the comparisons
 * run in parallel, while a walk is a chain of loads that wait for each other.
 *
 * See memo.c for the invariants.
 */
#ifndef SFB_UNWIND_CAPTURE_MEMO_H
#define SFB_UNWIND_CAPTURE_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/capture/seen_modules.h"
#include "unwind/machine/arch.h"
#include "unwind/process/module_cache.h"
#include "unwind/walk/rule_cache.h"

enum { SFB_MEMO_CBF_MAX = 7 };

/* A frame, and how it was reached from its callee. */
struct sfb_memo_frame {
    uint64_t key, sp, fp; /* with the stack's words, these determine the caller */
    uint64_t fp_at;       /* address of the saved fp; if fp was not saved, of the return address */
    uint64_t fp_word;     /* the word read at fp_at */
    uint8_t cbf[SFB_MEMO_CBF_MAX]; /* CBF of this frame behind its callee */
    uint8_t cbf_size : 3;          /* 0: not known yet */
    uint8_t fp_read : 1;
    uint8_t by_eh_frame : 1;
    uint8_t interrupted : 1; /* pc is key - 1 */
    /* Probably the innermost frame of a module that may be unloaded: the first rule from that module. */
    uint8_t needs_module : 1;
    uint8_t
        any_fp : 1; /* the frames further out do not depend on fp, which may be stale: stack_name.c */
};

/* In the caller's storage, zero at first. */
struct sfb_memo {
    volatile uint32_t busy;   /* in use by a walk, perhaps one that was interrupted */
    uint32_t count;           /* of frames */
    int32_t balance;          /* recent gain in frames; negative: a loss */
    uint32_t idle;            /* further walks that do not use it */
    uint64_t hi;              /* end of its stack */
    bool complete;            /* frame 0 is outermost */
    uint8_t words, new_words; /* bit i: modules[i], new_modules[i] is not 0 */
    bool hashed;              /* hashes follow the frames */
    uint16_t debt;            /* recent cost of walking beyond frame 0 */
    uint8_t doubled;          /* how often the idle time has been doubled */
    uint8_t checked;          /* modules that this walk has looked up for the memo, up to 255 */
    uint64_t
        modules[SFB_MODULE_PERMANENT / 64]; /* ids that must be mapped for the memo to be valid */
    uint64_t
        new_modules[SFB_MODULE_PERMANENT / 64]; /* ids that the rules of fresh frames are from */
    struct sfb_memo_frame frame[];              /* outermost first */
    /* hashed: uint64_t hash[capacity], each of a frame and all frames further out */
};

/* A memo during a walk. */
struct sfb_memo_walk {
    struct sfb_memo *memo;  /* NULL: a walk without a memo */
    uint32_t capacity : 30; /* shares a word with the next two: stack is scarce */
    uint32_t paid : 1;      /* the frames matched before it diverged were a gain */
    uint32_t beyond : 1;    /* the walk is further out than frame 0; it records nothing there */
    uint32_t outer;         /* [0, outer) lie further out than the walk's frame */
    uint32_t matched;       /* [outer, matched) are also frames of this walk; 0: no frame matched */
    uint32_t fresh; /* [fresh, capacity) are the walk's frames further in than the matched */
};

/* The outermost frames of a walk, and their hash: stack_hash.h. */
struct sfb_memo_hash {
    uint32_t frames;
    uint64_t value;
};

/*
 * Tells whether a memo is idle: this walk does not use it. sfb_memo_begin() reports invalid storage.
 *
 * A signal handler in between may count the same walk again: the memo then rests one walk longer, which does no harm.
 */
static inline bool sfb_memo_rests(void *storage, size_t size)
{
    struct sfb_memo *memo = storage;

    if ((uintptr_t)storage % 8 != 0 || size < sizeof *memo || memo->idle <= 1)
        return false;
    memo->idle--;
    return true;
}

/*
 * Takes a memo for a walk on the stack that ends at hi.
 *
 * @param storage  NULL, in use, too small, or misaligned: the walk runs without a memo
 * @param hashed   sfb_memo_end() will compute a hash
 */
void sfb_memo_begin(struct sfb_memo_walk *out, void *storage, size_t size, uint64_t hi,
                    bool hashed);

/*
 * Releases the memo, and records the walk's frames in it.
 *
 * @param sp        of the walk's last frame
 * @param complete  that frame was outermost
 * @param hash      in: frames given by the walk; out: the frames among them that the memo has, and
 *                  their hash. NULL: not wanted
 */
void sfb_memo_end(struct sfb_memo_walk *walk, uint64_t sp, bool complete,
                  struct sfb_memo_hash *hash);

/* Drops the walk's frames so far: the next frame is on another part of the stack. */
void sfb_memo_discard_inner(struct sfb_memo_walk *walk);

/* The stack differs from the memo behind the matched frames. */
void sfb_memo_diverge(struct sfb_memo_walk *walk);

/*
 * Validates the memo, once the walk has reached one of its frames.
 *
 * @param hi    end of the stack that the walk may read
 * @param room  most further frames that will be taken from the memo
 * @param seen  modules that the walk has found
 *
 * @return true: its frames are valid: their modules are still mapped, and the readable stack reaches
 *         as far as the memo; false: the memo was emptied
 */
bool sfb_memo_check(struct sfb_memo_walk *walk, uint64_t hi, uint32_t room,
                    struct sfb_seen_modules *seen);

/*
 * Finds the walk's frame in the memo.
 *
 * @return the memo's frame, now matched; NULL: not found
 */
static inline struct sfb_memo_frame *sfb_memo_find(struct sfb_memo_walk *w, uint64_t key,
                                                   uint64_t sp, uint64_t fp, bool interrupted)
{
    struct sfb_memo_frame *frame = w->memo->frame, *f;
    uint32_t outer = w->outer;

    while (outer > 0 && frame[outer - 1].sp < sp)
        outer--;
    w->outer = outer;
    if (outer == 0)
        return NULL;
    f = &frame[outer - 1];
    if ((f->sp ^ sp) | (f->key ^ key) | (f->fp ^ fp) | (f->interrupted ^ interrupted))
        return NULL;
    w->matched = w->outer--;
    return f;
}

/* @return the slot for a new frame; NULL: the memo is full */
static inline struct sfb_memo_frame *sfb_memo_add(struct sfb_memo_walk *w)
{
    if (w->fresh == w->outer)
        w->fresh = w->capacity; /* a stack too deep for the memo: its outer part is kept */
    return w->fresh > w->outer ? &w->memo->frame[--w->fresh] : NULL;
}

/*
 * Records a frame, a return address.
 *
 * @param word  of the rule cache: the callee's rule, which led to this frame
 */
static inline void sfb_memo_write(struct sfb_memo_frame *f, uint64_t key, uint64_t sp, uint64_t fp,
                                  uint64_t word)
{
    bool fp_read;

    f->key = key;
    f->sp = sp;
    f->fp = fp;
    f->fp_at = sfb_arch_place_read(word, sp, &fp_read);
    f->fp_word = sfb_load(f->fp_at);
    f->cbf_size = 0;
    f->fp_read = fp_read;
    f->by_eh_frame = (uint8_t)(sfb_module_eh_frame[sfb_rule_cache_id(word)] & 1u);
    f->interrupted = false;
    f->needs_module = false;
    f->any_fp = false;
}

/* @return whether the stack's words still lead from the callee to this frame */
SFB_NO_SANITIZE static inline bool sfb_memo_holds(const struct sfb_memo_frame *f)
{
    uint64_t ra_at = SFB_ARCH_LR ? f->fp_at + f->fp_read * 8u : f->sp - 8;

    return !(((sfb_load(ra_at) & SFB_ARCH_CODE_MASK) ^ f->key) |
             (sfb_load(f->fp_at) ^ f->fp_word)); /* one branch */
}

#endif
