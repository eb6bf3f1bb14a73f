/* Swift's concurrency runtime in this process, by the name of its library. */
#ifndef SFB_UNWIND_CAPTURE_SWIFT_RUNTIME_H
#define SFB_UNWIND_CAPTURE_SWIFT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of the last module asked for. All zero at first. */
struct sfb_swift_runtime {
    uint64_t start, end; /* of the module */
    bool is_it;
};

/*
 * @return whether pc lies in libswift_Concurrency.so
 *
 * Threads, signals: safe.   Cost: constant in the module of the last call, else 0.1 us.
 */
bool sfb_swift_runtime_has(struct sfb_swift_runtime *runtime, uint64_t pc);

#endif
