/* Which part of the recordings a report is of. */
#ifndef REPORT_CHOICE_H
#define REPORT_CHOICE_H

#include "report/data.h"

/* Which samples are wanted. Zero: all. */
struct report_choice {
    uint64_t from, to;   /* ns from the beginning of a recording; to 0: its end */
    const char *thread;  /* a name or a tid; NULL: all */
    const char *process; /* the base name of a program, or a pid */
    /* Whether one of a stack's functions is wanted: asked once for each name. NULL: all are */
    bool (*function)(void *user, const char *name);
    void *user;
    bool no_inlines; /* functions that were inlined are part of those that contain them */
};

bool report_choice_has_process(const struct report_choice *c, const struct report_process *process);
bool report_choice_has_thread(const struct report_choice *c, const struct report_thread *thread);

/* @param time  ns from the beginning of its recording */
bool report_choice_has_time(const struct report_choice *c, uint64_t time);

/* What was never sampled has no time and no stack: whether it is wanted all the same. */
bool report_choice_has_unsampled(const struct report_choice *c);

#endif
