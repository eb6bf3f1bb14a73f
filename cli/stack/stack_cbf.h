/* Stacks as CBF, one behind the other: what `sfb decode` and `sfb symbolize --pid` read. */
#ifndef CLI_STACK_STACK_CBF_H
#define CLI_STACK_STACK_CBF_H

#include <stdbool.h>
#include <stddef.h>

#include <sfb/remote.h>

/* @return false: no memory */
bool stack_cbf_print(const struct sfb_remote_thread *threads, size_t count);

#endif
