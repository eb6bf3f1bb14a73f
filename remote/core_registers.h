/* The registers of NT_PRSTATUS, by machine: core_registers_<name>.c. */
#ifndef REMOTE_CORE_REGISTERS_H
#define REMOTE_CORE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/context.h"
#include "sfb/remote.h"

/* @param words  as many as struct user_regs_struct has */
void remote_core_registers(struct sfb_context *out, const uint64_t *words);

/* @return whether the thread was in a system call; then its number and its arguments are written */
bool remote_core_call(struct sfb_remote_thread *out, const uint64_t *words);

#endif
