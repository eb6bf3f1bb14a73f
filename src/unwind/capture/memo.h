/*
 * The memo: a thread's last walk, frame by frame, with where each frame's words were read. The
 * outer part of a stack seldom changes from one walk to the next, and what did not change takes no
 * chain of loads, each waiting for the one before, but comparisons that all go on at once.
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

/* A frame, and how it was reached from the one further in. */
struct sfb_memo_frame {
    uint64_t key, sp, fp; /* all that what comes behind it depends on, but for words of the stack */
    uint64_t fp_at;       /* where fp was read; else where the return address was */
    uint64_t fp_word;     /* what was read there */
    uint8_t cbf[SFB_MEMO_CBF_MAX]; /* its bytes behind those of the frame further in */
    uint8_t cbf_size : 3;          /* 0: they are not known */
    uint8_t fp_read : 1;
    uint8_t by_eh_frame : 1;
    uint8_t interrupted : 1; /* the pc is one less than the key */
    /* Probably the innermost frame of a module that may be unloaded: its rule is the first from there. */
    uint8_t needs_module : 1;
    uint8_t zero : 1; /* the byte is written as a whole */
};

/* In the caller's storage, zero at first. */
struct sfb_memo {
    volatile uint32_t busy;   /* a walk that was interrupted has it in its hands */
    uint32_t count;           /* of frames */
    int32_t balance;          /* what it has saved lately, in frames; less than nothing: cost */
    uint32_t idle;            /* walks for which it is left alone */
    uint64_t hi;              /* end of the stack that it is of */
    bool complete;            /* nothing comes behind frame 0 */
    uint8_t words, new_words; /* a bit for each of the following words that is not 0 */
    bool hashed;              /* there are hashes behind the frames */
    uint16_t debt;            /* what it has cost lately that frames lie beyond frame 0 */
    uint8_t doubled;          /* how often the time was that it was last left alone for */
    uint8_t checked;          /* modules that this walk has looked for on its account, up to 255 */
    uint64_t
        modules[SFB_MODULE_PERMANENT / 64]; /* that have to be there for it to be true, by id */
    uint64_t new_modules[SFB_MODULE_PERMANENT / 64]; /* that rules of fresh frames came from */
    struct sfb_memo_frame frame[];                   /* outermost first */
    /* hashed: uint64_t hash[capacity], of each frame and all further out */
};

/* A memo while a walk goes on; memo NULL: there is none. */
struct sfb_memo_walk {
    struct sfb_memo *memo;
    uint32_t capacity : 30; /* in one word with the next: stack is scarce */
    uint32_t paid : 1;      /* what it gave before it diverged was worth it */
    uint32_t beyond : 1;    /* it is further out than frame 0, and tells nothing of that */
    uint32_t outer;         /* [0, outer) of its frames lie further out than where the walk is */
    uint32_t matched;       /* [outer, matched) are frames of this walk, too; 0: none are */
    uint32_t fresh;         /* [fresh, capacity) are frames of this walk, further in than those */
};

/* The outermost frames of a walk, and what stack_hash.h makes of them. */
struct sfb_memo_hash {
    uint32_t frames;
    uint64_t value;
};

/*
 * Whether a memo is left alone for this walk, which goes on without. What is wrong with it, sfb_memo_begin() sees.
 *
 * A handler that comes between sees it as it was: one walk more is no matter.
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
 * @param storage  NULL, in use, too small, or misaligned: the walk goes on without
 * @param hashed   sfb_memo_end() is asked for the hash
 */
void sfb_memo_begin(struct sfb_memo_walk *out, void *storage, size_t size, uint64_t hi,
                    bool hashed);

/*
 * Gives it back, with what the walk has seen.
 *
 * @param sp        of the frame that it ended on
 * @param complete  that was the outermost frame
 * @param hash      frames: how many were given. Written: of those of them that the memo has. NULL:
 *                  not wanted
 */
void sfb_memo_end(struct sfb_memo_walk *walk, uint64_t sp, bool complete,
                  struct sfb_memo_hash *hash);

/* What lies further in than the next frame has nothing to do with what lies further out. */
void sfb_memo_discard_inner(struct sfb_memo_walk *walk);

/* The matched frames are followed by other ones than those that the memo has. */
void sfb_memo_diverge(struct sfb_memo_walk *walk);

/*
 * Asked when the walk has come to one of its frames.
 *
 * @param hi    end of what the walk may read of the stack
 * @param room  so many of its other frames will be taken at most
 * @param seen  modules that it has found
 *
 * @return whether these frames may be believed: their modules are there, and what is known of the
 *         stack reaches as far as the memo; if not, it is empty now
 */
bool sfb_memo_check(struct sfb_memo_walk *walk, uint64_t hi, uint32_t room,
                    struct sfb_seen_modules *seen);

/*
 * Looks for the frame that the walk has come to.
 *
 * @return the memo's own, which the walk now stands on; NULL: it has none
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

/* @return where to write down a frame that the memo does not have; NULL: there is no room */
static inline struct sfb_memo_frame *sfb_memo_add(struct sfb_memo_walk *w)
{
    if (w->fresh == w->outer)
        w->fresh = w->capacity; /* of a stack that is too deep, the outer part is kept */
    return w->fresh > w->outer ? &w->memo->frame[--w->fresh] : NULL;
}

/*
 * Writes a frame down, a return address.
 *
 * @param word  of the rule cache, that led there from the frame further in
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
    f->zero = 0;
}

/* @return whether the stack still leads to this frame from the one further in */
SFB_NO_SANITIZE static inline bool sfb_memo_holds(const struct sfb_memo_frame *f)
{
    uint64_t ra_at = SFB_ARCH_LR ? f->fp_at + f->fp_read * 8u : f->sp - 8;

    return !(((sfb_load(ra_at) & SFB_ARCH_CODE_MASK) ^ f->key) |
             (sfb_load(f->fp_at) ^ f->fp_word)); /* one branch */
}

#endif
