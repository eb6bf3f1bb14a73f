/* Python functions of a thread that was stopped for a moment: beside its stack in the recording. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_PYTHON_H
#define PROFILER_COLLECTOR_OUTSIDE_OUTSIDE_PYTHON_H

#include "profiler/collector/outside/outside_state.h"
#include "remote/python.h"

enum {
    OUTSIDE_PYTHON_FRAMES = 8192
}; /* C frames of a stack whose functions are placed, from the innermost on */

/* What was read of a thread, and where its C frames are. */
struct outside_python {
    const struct remote_python_stack *read;
    uint64_t sp[OUTSIDE_PYTHON_FRAMES]; /* of each C frame */
};

/*
 * Writes a stack with its Python functions.
 *
 * @param size    of the CBF in outside->cbf
 * @param frames  of it
 * @param id      written
 * @return false: the recording cannot be written, or no memory
 */
bool outside_python_put(struct outside *outside, uint32_t process,
                        const struct outside_python *python, size_t size, uint32_t frames,
                        uint32_t *id);

/*
 * Looks for an interpreter whose functions looks can read.
 *
 * @param pid  a task whose memory can be read
 * @param out  written: "CPython 3.11.2"; "": not found
 */
void outside_python_find(char *out, size_t room, pid_t pid);

#endif
