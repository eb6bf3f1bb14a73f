/*
 * Parts of a report that may meet with a fault: they are left where it happens, and the report goes
 * on behind them.
 *
 * The way back is a jump from the nested signal's handler, not an altered context for sigreturn: it
 * needs no system call that a filter could refuse, and a shadow stack's pointer goes back with it.
 * No mask has to be restored on the way but the one that the nested context has.
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
    volatile bool armed;       /* there is a way back, to: */
    struct sfb_crash_mark mark;
    volatile unsigned faults; /* in this report */
    volatile bool untold;     /* the last one has no line yet */
    volatile int number;      /* of the last one: its signal */
    volatile uint64_t address;
};

extern struct sfb_attempts sfb_attempts;

/* A report with more faults than this is given up. */
enum { SFB_ATTEMPT_FAULTS_MAX = 12 };

void sfb_attempts_begin(void);

/*
 * Calls what(with). It may call this, too.
 *
 * @return false: it met with a fault, and was left there
 */
bool sfb_attempt(void (*what)(void *), void *with);

/* Goes back to the attempt that a fault interrupted; returns if there is none, or no more. */
void sfb_attempt_fail(int number, const siginfo_t *info, const void *ucontext);

/* Writes a line about the last fault, if it has none yet. ending: what becomes of the report */
void sfb_attempt_tell(struct sfb_text *text, const char *ending);

#define SFB_ATTEMPT_STEPPED_OVER "stepped over"

#endif
