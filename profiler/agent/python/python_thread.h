/* What the agent remembers of a thread's Python state. */
#ifndef PROFILER_AGENT_PYTHON_PYTHON_THREAD_H
#define PROFILER_AGENT_PYTHON_PYTHON_THREAD_H

#include <stdint.h>

#include "profiler/agent/python/python_memory.h"
#include "profiler/protocol/shared.h"
#include "unwind/runtime/cpython_async.h"

/* All zero at first. */
struct sfb_python_thread {
    uint64_t states[SFB_CPYTHON_STATES];
    uint32_t state_count;
    uint32_t misses, pause; /* looks in vain; samples until the next look */
    uint32_t count;         /* of calls */
    uint32_t gil;           /* of the last sample: enum sfb_recording_gil */
    struct sfb_python_pages pages;
    struct sfb_shared_call calls[SFB_SHARED_CALLS_MAX]; /* of the last sample */

    struct sfb_cpython_async async;

    /* Of a function that is being sent. Here, for a handler may run on a small stack. */
    char name[SFB_SHARED_CODE_NAME + 1], file[SFB_SHARED_CODE_FILE + 1];
};

#endif
