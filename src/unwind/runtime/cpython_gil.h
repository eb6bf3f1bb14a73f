/* The GIL of a thread's interpreter: which thread holds it. */
#ifndef SFB_UNWIND_RUNTIME_CPYTHON_GIL_H
#define SFB_UNWIND_RUNTIME_CPYTHON_GIL_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/runtime/cpython.h"

/* Numbered as enum sfb_recording_gil. */
enum sfb_cpython_gil {
    SFB_CPYTHON_GIL_UNKNOWN = 0,
    SFB_CPYTHON_GIL_HELD = 1,
    SFB_CPYTHON_GIL_WAITED = 2,
    SFB_CPYTHON_GIL_RELEASED = 3
};

/*
 * @param state  of a thread; from 3.12 on each subinterpreter may have a GIL of its own
 * @return the address of its GIL; 0: unreadable, or not started
 *
 * Signals: safe; no allocation.   Cost: two words.
 */
uint64_t sfb_cpython_gil_at(const struct sfb_cpython *cpython, struct sfb_memory *memory,
                            uint64_t state);

/*
 * @param holder  written: the state of the thread that holds it; 0: it is free
 * @return false: unreadable, or no GIL
 */
bool sfb_cpython_gil_holder(uint64_t *holder, struct sfb_memory *memory, uint64_t gil);

/*
 * Whether a thread holds the GIL of one of its states. A thread that is about to take it, or has just given it back, is
 * of either state for a few instructions.
 *
 * @param gil  written: the GIL that it holds, else the one of its first state; 0: not known
 * @return SFB_CPYTHON_GIL_HELD, SFB_CPYTHON_GIL_RELEASED; SFB_CPYTHON_GIL_UNKNOWN: unreadable
 */
enum sfb_cpython_gil sfb_cpython_gil_of(uint64_t *gil, const struct sfb_cpython *cpython,
                                        struct sfb_memory *memory, const uint64_t *states,
                                        unsigned count);

/* Whether a futex is of a GIL: a thread that sleeps on it waits for that GIL. */
bool sfb_cpython_gil_has(uint64_t gil, uint64_t futex);

#endif
