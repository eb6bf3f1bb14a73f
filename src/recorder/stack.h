/* A stack, as an agent has sent it. */
#ifndef RECORDER_STACK_H
#define RECORDER_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it is a CBF of this machine, with its end. */
bool sfb_recorder_is_cbf(const void *bytes, size_t size);

#endif
