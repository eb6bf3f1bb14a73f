/* All the ways there are to walk a stack, which differ in speed alone. */
#ifndef SUPPORT_WAYS_H
#define SUPPORT_WAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "support/trace.h"

/*
 * Walks from a signal's ucontext, or from the caller, in every way: by the walker without its
 * cache, which is the reference; through the front doors, with addresses and as CBF; without a
 * memo, with one, and with one that has room for three frames; in parts of three frames; by a caller's
 * reader; and with the hash of the stack. The memos are kept from call to call. Safe in a handler, not in two at once.
 *
 * @return NULL: all of them found the same; else which did not: ours and theirs is what it found,
 *         and what the reference did
 */
const char *ways_differ(const void *ucontext, struct trace *ours, struct trace *theirs);

#endif
