/* Code of Go on x86-64, by its instructions: no table covers it. See the .c file. */
#ifndef SFB_UNWIND_MACHINE_GO_X86_64_H
#define SFB_UNWIND_MACHINE_GO_X86_64_H

#include <stdint.h>

#include "sfb/memory.h"

/*
 * Gives the distance from sp to the return address while rbp is the caller's: before the function has set
 * rbp, or after it has restored it.
 *
 * @return bytes; -1: the code at pc does not show it
 */
int64_t sfb_go_frame_size(struct sfb_memory *code, uint64_t pc);

#endif
