/* What is known of code that Go's compiler made, by its instructions: no table covers it. */
#ifndef SFB_UNWIND_MACHINE_GO_H
#define SFB_UNWIND_MACHINE_GO_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/frame.h"
#include "sfb/memory.h"
#include "sfb/walk.h"

/*
 * Whether a goroutine ends here: its outermost function returns to the second instruction of Go's
 * `goexit`, which no call precedes, and of which nothing comes behind.
 */
bool sfb_arch_is_goroutine_end(struct sfb_memory *code, uint64_t pc);

/*
 * Whether the code around pc stores the function's frame record, and how far above sp: then the record there
 * is its own.
 *
 * @param offset  of the record, from sp
 */
bool sfb_arch_stores_record(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                            uint64_t offset);

/* The rule of `asyncPreempt`. AArch64: and where the link register of its caller was stored. */
struct sfb_go_preempt {
    struct sfb_rule rule;
    int32_t lr_offset; /* from the CFA */
};

/*
 * Finds the rule of Go's `asyncPreempt` by its code. A signal handler of Go's runtime makes it look called
 * by the function that it interrupted: the return address is the interrupted pc, behind no call.
 *
 * @return whether pc is in it, at an instruction where the rule is known
 *
 * Cost: the code of that one function, 450 bytes.
 */
bool sfb_arch_find_preempt(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                           struct sfb_go_preempt *out);

#endif
