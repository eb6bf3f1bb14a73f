/*
 * Trials by the hundred thousand, each of which may crash or hang: run in forked children that
 * recover, so that one bad trial costs one trial, and is named by its seed.
 *
 *     parent, deep in its stack: trials_fork()      -> a child with the same stack
 *     child, on another stack:   trials_batch()     -> some thousands of trials; it ends there
 *     parent:                                       -> the next child, until all are done
 *
 * A crash is a signal, and the child goes on behind it; a child that does not survive is replaced.
 * A hang is a second of CPU time in one trial, or half a minute of anybody's.
 */
#ifndef TORTURE_TRIALS_H
#define TORTURE_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

/* What a trial can come to. */
enum verdict {
    VERDICT_GOOD,
    VERDICT_CRASH,
    VERDICT_HANG,
    VERDICT_BAD_CBF,   /* its bytes are no backtrace, or not the one that it says it is */
    VERDICT_TOO_LONG,  /* more frames than the stack has words */
    VERDICT_FALSE_END, /* `end`, and not at the outermost frame */
    VERDICT_DIFFERS,   /* two ways to walk the same that do not agree */
    VERDICT_COUNT
};

/* What a self check does to one trial, to see that it is noticed. */
enum inject { INJECT_NOTHING, INJECT_CRASH, INJECT_HANG, INJECT_END, INJECT_DEATH };

enum { TRIALS_TALLIES = 8 };

/* Shared by parent and children. */
struct trials {
    const char *name;
    uint64_t seed; /* of all of them */
    uint64_t first, count;
    uint64_t next;  /* trial to be run; the one that runs is the one before */
    unsigned batch; /* trials a child */
    uint64_t found[VERDICT_COUNT];
    uint64_t tally[TRIALS_TALLIES]; /* what the trials themselves count */
    enum inject inject;             /* into trial 100 */
};

struct random {
    uint64_t state;
};

/* The same numbers for a seed and a trial, every time. */
struct random random_of(uint64_t seed, uint64_t trial);
uint64_t random_next(struct random *r);

/* Below a bound that is not zero. */
uint64_t random_below(struct random *r, uint64_t bound);

/* Takes [--seed N] [--first N] [--inject crash|hang|end|death] [TRIALS]; ends the program on
 * others. */
struct trials *trials_new(const char *name, uint64_t count, int argc, char **argv);

/* @return true in a child, which has to call trials_batch(); false in the parent, once all is done
 */
bool trials_fork(struct trials *t);

/* Runs a child's share, and ends it. The trial puts everything in order before it damages anything.
 */
typedef enum verdict trial_fn(struct trials *t, struct random *r, uint64_t trial);
_Noreturn void trials_batch(struct trials *t, trial_fn *trial);

/* Says which trial it was. */
void trials_complain(struct trials *t, uint64_t trial, enum verdict verdict, const char *what);

/* Prints what was found. @return for main(): 0 if nothing was */
int trials_report(const struct trials *t);

#endif
