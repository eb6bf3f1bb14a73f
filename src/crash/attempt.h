/*
 * Attempts: parts of a report that may fault. A fault ends the part, and the report goes on behind it.
 *
 * The way back is a jump out of the nested signal's handler, not an altered context for sigreturn. It
 * needs no system call that a filter could refuse, and restores a shadow stack's pointer. The only
 * signal mask to restore is the nested context's.
 */
#ifndef SFB_CRASH_ATTEMPT_H
#define SFB_CRASH_ATTEMPT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "crash/text.h"

/* Registers; see mark_*.S. */
struct sfb_crash_mark {
    uint64_t words[21];
};

/* The state of the one report that is being written. */
struct sfb_attempts {
    const char *volatile part; /* the one being written */
    volatile bool armed;       /* an attempt runs; a fault goes back to: */
    struct sfb_crash_mark mark;
    volatile unsigned faults; /* in this report */
    volatile bool unreported; /* the last fault has no line in the report yet */
    volatile int number;      /* signal of the last fault */
    volatile uint64_t address;
};

extern struct sfb_attempts sfb_attempts;

/* A report with more faults than this is given up. */
enum { SFB_ATTEMPT_FAULTS_MAX = 12 };

void sfb_attempts_begin(void);

/*
 * Calls what(with). Attempts may nest.
 *
 * @return false: the call faulted, and was ended there
 */
bool sfb_attempt(void (*what)(void *), void *with);

/* Ends the attempt that a fault interrupted, with a jump. Returns if no attempt runs, or after too many faults. */
void sfb_attempt_fail(int number, const siginfo_t *info, const void *ucontext);

/* Writes a line about the last fault, if unreported. ending: how the report goes on */
void sfb_attempt_tell(struct sfb_text *text, const char *ending);

#define SFB_ATTEMPT_STEPPED_OVER "stepped over"

#endif
