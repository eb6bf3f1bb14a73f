/*
 * The Python functions that the calling thread runs: which, where each stands, and in which C frame.
 *
 * The interpreter is found by its exported symbols, to which the loader binds weak references: a program without it pays
 * two comparisons a stack. One that is loaded later is found when modules are listed. Nothing of it is called.
 *
 *     sfb_python_read()   the calls, by runs
 *     sfb_marks_place()   the C frame of each run
 *     sfb_python_place()  the calls by their frames
 */
#ifndef PROFILER_AGENT_PYTHON_PYTHON_CALLS_H
#define PROFILER_AGENT_PYTHON_PYTHON_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/agent/python/python_find.h"
#include "profiler/agent/python/python_thread.h"
#include "unwind/capture/marks.h"

/* Whether its functions are read: it is linked, and its version was not refused. */
bool sfb_python_is_read(void);

/* Where functions go that the recorder does not know yet: the thread's ring. */
struct sfb_python_sink {
    void *with;
    /* @return room for a record; NULL: no room. Not asked again for this stack */
    uint8_t *(*reserve)(void *with, size_t size);
    /* Writes the record's head and publishes it. All else is written. */
    void (*publish)(void *with, struct sfb_shared_code *code, size_t size);
    uint32_t new_max; /* functions that one stack sends; the others come with later stacks */
    bool torn;        /* called in a handler: the innermost call may be in the midst of a change */
};

enum { SFB_PYTHON_RUNS_MAX = 128 }; /* of a stack */

/* Calls that one C frame runs. */
struct sfb_python_runs {
    struct sfb_mark marks[SFB_PYTHON_RUNS_MAX];
    uint32_t end[SFB_PYTHON_RUNS_MAX]; /* of its calls */
    size_t count;
};

/*
 * Finds the calls of the calling thread, and sends the functions that are new. Calls that belong to no run are left out.
 *
 * @param p    the thread's; in place of a frame its calls have the number of their run
 * @param tid  of the calling thread
 * @return how many, in p->calls; p->gil says whether the thread holds the GIL
 *
 * Signals: safe; no allocation.   Cost: docs of the profiler, "Python".
 */
uint32_t sfb_python_read(struct sfb_python_thread *p, struct sfb_python_runs *runs,
                         const struct sfb_python_sink *sink, uint64_t tid);

/* @return a hash of the calls, with their frames or the numbers of their runs */
uint64_t sfb_python_hash(const struct sfb_python_thread *p);

/*
 * Gives each call the frame of its run's mark. Calls without one are left out: what cannot be paired stays C.
 *
 * @return how many are left
 */
uint32_t sfb_python_place(struct sfb_python_thread *p, const struct sfb_python_runs *runs);

#endif
