/*
 * asyncio: which task a coroutine is of, and the tasks that await it, with the frames where they stand.
 *
 * A task is known by a proof: its coroutine contains the frame that runs. One that awaits it says so: by task_awaited_by (3.14), or because
 * it is called back when the other ends, and names what it waits for.
 */
#ifndef SFB_UNWIND_RUNTIME_CPYTHON_ASYNC_H
#define SFB_UNWIND_RUNTIME_CPYTHON_ASYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/runtime/cpython_frames.h"

/*
 * What stands in a list of functions between a task and the one that awaits it: no function. Behind a task's functions,
 * its name follows the other.
 */
#define SFB_CPYTHON_AWAIT "[await]"
#define SFB_CPYTHON_TASK  "task "

enum {
    SFB_CPYTHON_AWAIT_FRAMES = 64, /* of a task; those further in are left out */
    SFB_CPYTHON_AWAIT_TASKS = 32,  /* of a chain: a circle ends there */
    SFB_CPYTHON_DOUBTED = 8        /* pages remembered */
};

struct sfb_cpython_async {
    const struct sfb_cpython *cpython;
    struct sfb_memory *memory;
    /* Called once for each page that may be gone, before it is read. NULL: the policy finds out by itself */
    void (*doubt)(struct sfb_memory *memory, uint64_t address);
    uint32_t doubts_left; /* calls of it: afterwards nothing more is found. Set once a sample */
    uint32_t doubted_next;
    uint64_t doubted[SFB_CPYTHON_DOUBTED]; /* numbers of the last pages doubted since begin() */
    uint64_t task;                         /* found last */
    uint32_t tasks;                        /* given so far */
    uint32_t count;                        /* of frames: of the task that awaits */
    struct sfb_cpython_frame frames[SFB_CPYTHON_AWAIT_FRAMES]; /* outermost first */
};

/*
 * Finds the task that a run of frames is of.
 *
 * @param out    cpython, memory, and doubt with doubts_left, are set
 * @param state  of the thread
 * @param inner  address of the run's outermost frame
 * @param outer  of the frame behind the run: before 3.14 it leads to the task; 0: none
 * @return false: no task, or none that is proven
 *
 * Signals: safe; no allocation.   Cost: a word for a frame of no coroutine, else 5 to 10, and a probe of each page doubted.
 */
bool sfb_cpython_async_begin(struct sfb_cpython_async *out, uint64_t state, uint64_t inner,
                             uint64_t outer);

/*
 * Goes to the task that awaits the one found last, and gives its frames: count is at least 1.
 *
 * @return false: none awaits it, or several do, or it is not known
 */
bool sfb_cpython_async_next(struct sfb_cpython_async *async);

/*
 * Copies the name of the task found last, if it is one that the program gave: not Task-7.
 *
 * @param room  for it and a zero, at least 16
 * @return bytes; 0: no such name
 */
size_t sfb_cpython_async_name(char *out, size_t room, struct sfb_cpython_async *async);

#endif
