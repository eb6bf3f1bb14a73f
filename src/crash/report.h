/* The text of a report. docs/FORMATS.md describes it, cli/crash_report.c reads it. */
#ifndef SFB_CRASH_REPORT_H
#define SFB_CRASH_REPORT_H

#include <signal.h>

#include "crash/text.h"

struct sfb_crash_event {
    int number;
    siginfo_t *info;
    const void *ucontext;
    int process, thread;          /* 0 or less: unknown, a filter refused the system call */
    const struct sigaction *next; /* the handler that gets the signal afterwards */
};

/*
 * Writes a report, part by part, so that good parts are written before a later part faults. A part that
 * faults is ended there, and a line says so: see attempt.h.
 */
void sfb_crash_report(struct sfb_text *text, const struct sfb_crash_event *event);

/* A report of two lines, if no stack is left for more. */
void sfb_crash_report_spent(struct sfb_text *text, const struct sfb_crash_event *event);

#endif
