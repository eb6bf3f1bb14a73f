/* One recording, from its file's first byte to its last. */
#ifndef CLI_RECORD_SESSION_H
#define CLI_RECORD_SESSION_H

#include "cli/record/parts.h"

/* Runs a program, records it, and waits for it. @return the command's exit status */
int record_session(const struct record_request *request, const char *path, const char *agent);

#endif
