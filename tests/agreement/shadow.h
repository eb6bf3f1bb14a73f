/*
 * The shadow stack: the calls and returns that a thread really executed, kept beside its stack. A
 * truth that needs no table.
 *
 *     burst.c             when: some hundred instructions at a time, begun by a timer
 *     shadow_<machine>.c  what an instruction did to the stack, by its code and by sp
 *     shadow.c            frames that come and go
 *     shadow_judge.c      a walk against them
 *
 * What was on the stack when the burst began is not known. It is taken from this library's walk,
 * the seed, and is checked as frames return: a `ret` of a seeded frame has to go where the seed
 * says. So verdicts come at once for frames that were called in the burst, and late for others.
 */
#ifndef SFB_AGREEMENT_SHADOW_H
#define SFB_AGREEMENT_SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "oracles/stack.h"

/* What is said of a stack. The report and `true_ends` go by the names. */
enum truth {
    TRUTH_SAME,           /* as the shadow, or as the seed, which nothing has contradicted */
    TRUTH_WRONG_END,      /* a frame that was called is missing, and the end is claimed */
    TRUTH_WRONG,          /* ... and the walk says that it stopped */
    TRUTH_SHORT,          /* the walk says that it stopped before the last frame that was called */
    TRUTH_EXTRA_END,      /* all frames that were called, and others between them */
    TRUTH_EXTRA,          /* ... and the walk says that it stopped */
    TRUTH_LATE_WRONG_END, /* as above: told by a frame of the seed that returned later */
    TRUTH_LATE_WRONG,
    TRUTH_LATE_SHORT,
    TRUTH_LEAVING,  /* half-way through a jump out of frames: the walk names where it goes */
    TRUTH_LONGER,   /* examples alone: an oracle's walk goes on where ours ends */
    TRUTH_SEED_BAD, /* examples alone: our walk behind a return, and what the seed has left */
    TRUTH_SEED,     /* differs in the seed's part, and no return has told who is right */
    TRUTH_UNJUDGED, /* nothing is known: the thread changed its stack, or its context was changed */
    TRUTHS
};

extern const char *const truth_names[TRUTHS];

/* What is said of seeds. */
enum seed {
    SEED_PROVEN,         /* frames that returned where the seed said */
    SEED_BAD_END,        /* seeds: a frame returned elsewhere, and the end was claimed */
    SEED_BAD,            /* ... and the walk said that it stopped */
    SEED_SAMPLE_BAD_END, /* the same of walks that a timer began: others are made in bursts */
    SEED_SAMPLE_BAD,
    SEED_UNKNOWN, /* a return that says nothing: to where no call is, or by a changed address */
    SEEDS
};

extern const char *const seed_names[SEEDS];

enum { SHADOW_END_MAX = 128, SHADOW_RETURNED = 256, UNSETTLED_EXAMPLES = 32 };

struct shadow_frame {
    uint64_t address;
    uint64_t slot;   /* where the stack has it; 0: not known */
    uint8_t kind;    /* enum sfb_frame_kind */
    bool held;       /* popped, but not returned to: the address may be in a register */
    bool by_handler; /* an interrupted pc; a walk may take it for a return address */
};

/* What the instruction that comes next may do. */
enum shadow_kind {
    SHADOW_PLAIN,
    SHADOW_CALL,
    SHADOW_RETURN,
    SHADOW_JUMP,    /* direct */
    SHADOW_JUMP_TO, /* by a register, or by memory */
    SHADOW_POP,     /* into a register */
    SHADOW_POP_TO,  /* into memory: the frame moves */
    SHADOW_SET_SP,  /* from a register */
    SHADOW_LOAD_SP, /* from memory */
    SHADOW_SYSCALL
};

struct shadow_next {
    enum shadow_kind kind;
    uint64_t pc, sp;
    uint64_t top_word; /* at sp, for what pops it */
    uint64_t target;   /* SHADOW_POP_TO: where to */
};

struct shadow {
    bool live;
    bool sample;       /* its seed is that of a timer */
    bool contradicted; /* a return has just shown the seed to be wrong */
    size_t count;      /* frame[0] is the outermost one */
    size_t seeded;     /* of them, those of the seed that are left */
    int seed_status;   /* how the seed's walk ended */
    uint64_t top;      /* the highest sp of this epoch: words from there on are older */
    uint64_t sp_set;   /* sp, if the last instruction set it; else 0 */
    bool lowered;      /* sp was set further down, and nothing was called since */
    uint64_t low, end; /* [low, end) is the mapping that the stack is in */
    struct shadow_next next;
    struct shadow_frame frame[FRAMES_MAX];

    uint64_t returned[SHADOW_RETURNED]; /* addresses of frames that did, a ring */
    size_t returns;

    /* An epoch: from a seed to its end, or to the next seed. Late verdicts wait here. */
    uint64_t same_end, same_stopped; /* stacks that agreed with the seed */
    struct {
        uint32_t wrong_end, wrong, shorter; /* stacks that differ from this frame of the seed on */
        uint32_t example;                   /* number + 1 */
    } waiting[FRAMES_MAX];
    size_t waiting_count; /* of them may be set */

    /* Wrong and extra ones since the last call or return: half-way to a jump they are `leaving`. */
    uint64_t unsettled[TRUTHS];
    bool has_left; /* an instruction set sp beyond frames */
    uint32_t unsettled_example[UNSETTLED_EXAMPLES];
    size_t unsettled_kept;

    atomic_uint_least64_t truth[TRUTHS], seed[SEEDS];
    atomic_uint_least64_t samples, lost, switched, sample_end[SHADOW_END_MAX];
};

enum { TRUTH_FRAMES = 24, TRUTH_EXAMPLES = 8192, TRUTH_BYTES = 16 };

/* A stack that was not the same, cut to what a reader needs. */
struct truth_example {
    atomic_bool complete;
    atomic_uint truth;
    int status;
    uint8_t source; /* who found our first differing frame */
    uint64_t pc;
    uint8_t code[TRUTH_BYTES];                         /* at pc */
    uint32_t ours_count, shadow_count, first, certain; /* first: the frame that differs */
    uint64_t ours[TRUTH_FRAMES], shadow[TRUTH_FRAMES]; /* from `from` on */
    uint32_t from;
};

extern struct truth_example *truth_examples; /* TRUTH_EXAMPLES, mapped at start */
extern atomic_size_t truth_examples_used;

struct stepper;

/* Starts an epoch: s->ours was walked from uc, and is the seed. */
void shadow_seed(struct stepper *s, const ucontext_t *uc, bool sample);

/* Ends it: what waits for a verdict gets none. */
void shadow_end(struct shadow *sh);

/* Frames come and go, by the machine's part. */
void shadow_push(struct shadow *sh, uint64_t address, uint64_t slot, bool by_handler);
void shadow_return(struct shadow *sh, uint64_t slot, uint64_t address);
void shadow_hold(struct shadow *sh, uint64_t slot, uint64_t moved_to);
void shadow_jump(struct shadow *sh, uint64_t target);

/*
 * Says of the wrong stacks since the last call or return what they were.
 *
 * @param as  TRUTHS: what they seemed to be. TRUTH_LEAVING: longjmp() or setcontext() was half-way,
 *            and the tables of libc name where it goes to. TRUTH_UNJUDGED: that was not seen.
 */
void shadow_settle(struct shadow *sh, enum truth as);
void shadow_prune(struct shadow *sh, uint64_t sp);
bool shadow_would_prune(const struct shadow *sh, uint64_t sp);

/* Looks at the instruction that comes next: afterwards its code may be gone. */
void shadow_look(struct shadow *sh, const ucontext_t *uc);

/*
 * Takes in what that instruction did.
 *
 * @return false: the thread is on another stack, or was given another context: nothing is known
 */
bool shadow_step(struct shadow *sh, const ucontext_t *uc);

/* @return whether a call may have left this return address; reads the bytes before it */
bool shadow_behind_call(uint64_t address);

/* Keeps an example of a seed that a return to where uc is has contradicted; s->ours starts there. */
void shadow_keep_contradiction(struct stepper *s, const ucontext_t *uc);

/* Judges s->ours, which was walked from uc, against the shadow. */
void shadow_judge(struct stepper *s, const ucontext_t *uc);

/* Counts a stack of an oracle that goes on where s->ours ends, if the shadow has nothing against it. */
void shadow_judge_longer(struct stepper *s, const ucontext_t *uc, const struct stack *theirs,
                         atomic_uint_least64_t *total);

static inline void shadow_add(atomic_uint_least64_t *total, uint64_t n)
{
    atomic_store_explicit(total, atomic_load_explicit(total, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

#endif
