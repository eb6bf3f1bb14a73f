/*
 * Memory of this process outside of the stack, for Python frames in a handler.
 *
 * A page counts as readable once it was probed. It may be unmapped later: then the interpreter names nothing there any
 * more, for a frame holds a reference to its code. Only what a signal can find torn, which is the innermost frame, is
 * probed anew each time: sfb_python_forget().
 */
#ifndef PROFILER_AGENT_PYTHON_PYTHON_MEMORY_H
#define PROFILER_AGENT_PYTHON_PYTHON_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/memory.h"

enum { SFB_PYTHON_PAGES = 256 };

struct sfb_python_pages {
    uint64_t page[SFB_PYTHON_PAGES]; /* by their numbers; 0: empty */
};

/* @param pages  of the calling thread; all zero at first */
void sfb_python_memory(struct sfb_memory *out, struct sfb_python_pages *pages);

/* The page of an address is probed before it is read again. */
void sfb_python_forget(struct sfb_memory *memory, uint64_t address);

#endif
