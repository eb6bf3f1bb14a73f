/* sfb record --pid, --all: processes that run already, from outside. */
#ifndef CLI_RECORD_OUTSIDE_H
#define CLI_RECORD_OUTSIDE_H

#include "cli/record/parts.h"

/*
 * Records them until they have ended, or until the user or --duration ends it.
 *
 * @return the command's exit status
 */
int record_outside(const struct record_request *request);

/* What recordings that follow each other have in common. */
struct outside_part {
    pid_t pid;                  /* 0: all processes */
    struct record_child *child; /* NULL: nothing was started */
    const char *path;           /* of what was started */
    bool runs;                  /* the child executes its program */
    bool failed;                /* the last one was not written, or not whole */
    bool ended;                 /* what is recorded has ended, or the user ended it */
    int cause;                  /* errno of the exec */
};

/* Complains where there is no process of that number. */
bool outside_is_there(const struct record_request *request);

/* Makes the next one: until --duration, or the end. The first one starts the child. */
void record_outside_part(const struct record_request *request, struct outside_part *part);

/* Whether there is nothing more to record. */
bool outside_part_is_over(const struct outside_part *part);

/* Runs a program that no agent can enter, and records it. @return the command's exit status */
int record_outside_program(const struct record_request *request, const char *path);

#endif
