/* The text of a report. docs/FORMATS.md describes it, tools/crash_report.c reads it. */
#ifndef SFB_CRASH_REPORT_H
#define SFB_CRASH_REPORT_H

#include <signal.h>

#include "crash/text.h"

struct sfb_crash_event {
    int number;
    siginfo_t *info;
    const void *ucontext;
    int process, thread;          /* 0 or less: a filter of system calls keeps it to itself */
    const struct sigaction *next; /* who gets the signal afterwards */
};

/*
 * Writes a report, part by part, so that what is good is out if the next part meets with a fault.
 * A part that does is left there, and a line says so: see attempt.h.
 */
void sfb_crash_report(struct sfb_text *text, const struct sfb_crash_event *event);

/* The same in two lines, where there is no stack left for more. */
void sfb_crash_report_spent(struct sfb_text *text, const struct sfb_crash_event *event);

#endif
