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

/* Runs a program that no agent can enter, and records it. @return the command's exit status */
int record_outside_program(const struct record_request *request, const char *path);

#endif
