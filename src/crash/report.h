/* The text of a report. docs/FORMATS.md describes it, tools/crash_report.c reads it. */
#ifndef SFB_CRASH_REPORT_H
#define SFB_CRASH_REPORT_H

#include <signal.h>

#include "crash/text.h"

#define SFB_CRASH_PREFIX "sframe-backtrace: crash: "

struct sfb_crash_event {
    int number;
    const siginfo_t *info;
    const void *ucontext;
    int process, thread;
    const struct sigaction *next; /* who gets the signal afterwards */
};

/*
 * Writes a report, part by part, so that what is good is out if the next part meets with a fault.
 *
 * @param part  names the part being written
 */
void sfb_crash_report(struct sfb_text *text, const struct sfb_crash_event *event,
                      const char *volatile *part);

#endif
