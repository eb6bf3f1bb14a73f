/* What a thread waits in, and what woke it up, by the kernel's functions in the chain of a sample. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_WAIT_KERNEL_H
#define PROFILER_COLLECTOR_OUTSIDE_WAIT_KERNEL_H

#include "profiler/collector/outside/perf_record.h"

struct wait_kernel; /* opaque */

struct wait_chain {
    const char
        *call;  /* name of the system call; "": none, or not known. Lives as long as the names */
    bool named; /* the kernel's functions are known */
    bool disk;  /* it waits for I/O */
    bool fault; /* a page */
    bool stopped;
    bool traced;    /* by a tracer, such as this program */
    bool interrupt; /* an interrupt runs */
};

/* Reads the kernel's functions: 50 ms. @return NULL: no memory */
struct wait_kernel *wait_kernel_open(void);

void wait_kernel_look(struct wait_kernel *kernel, const struct perf_sample *sample,
                      struct wait_chain *out);

void wait_kernel_close(struct wait_kernel *kernel);

#endif
