/*
 * A walk over coroutines: behind the frame of the innermost coroutine the coroutines that await it follow,
 * as frames of kind SFB_FRAME_ASYNC. The walk does not come back to the stack.
 *
 * - C++20, by gcc and clang: a coroutine begins with the address of its resume function. The caller names
 *   the innermost coroutine; a frame on the stack is its frame if the frame's function starts at that
 *   address. The caller's function gives what awaits a coroutine.
 * - Swift on Linux: in the function that the runtime's job runner called, r14 (x22) holds its context, or the
 *   word below its frame record: the parent's context, and the address at which the parent resumes.
 *
 * A suspended coroutine or task has no frame on a stack: the walk begins in it.
 *
 * The walker takes each step. Fast walks and memos do not know of coroutines, and cost nothing for them.
 */
#ifndef SFB_UNWIND_CAPTURE_ASYNC_WALK_H
#define SFB_UNWIND_CAPTURE_ASYNC_WALK_H

#include "sframe_backtrace.h"
#include "unwind/capture/capture_walk.h"
#include "unwind/capture/swift_runtime.h"

struct sfb_async_walk {
    struct sfb_capture_walk stack; /* on the frame reached, or where coroutines begin */

    /* The frame reached. */
    uint8_t kind, source;
    uint64_t address;

    const struct sframe_backtrace_options *options;
    struct sfb_memory memory; /* of coroutines, if the caller does not read */

    uint8_t part;          /* enum part: of what the frame reached is */
    uint64_t at;           /* COROUTINES: the one reached; CONTEXTS: the next */
    uint64_t seen;         /* one before it: a circle comes back there */
    uint32_t since, until; /* coroutines since `seen`, and after how many it moves on */

    uint64_t entry; /* resume function of the innermost C++ coroutine; 0: none to look for */

    struct sfb_swift_runtime runtime;
    bool in_runtime;      /* the frame reached is the runtime's, and not the first */
    uint64_t callee_fp;   /* fp of that before */
    uint64_t interrupted; /* what the register held there, if a signal interrupted it; else 0 */
    bool runner_known;    /* runner_sp was found */
    uint64_t runner_sp;   /* of the job runner's frame */
};

/* @return whether a call needs such a walk. (options are of this version.) */
static inline bool sfb_async_is_wanted(const struct sframe_backtrace_options *options)
{
    return options->flags & SFRAME_BACKTRACE_ASYNC;
}

/*
 * Puts the walk on its first frame.
 *
 * @param out      its `stack` has begun
 * @param options  borrowed until the walk ends
 *
 * @return SFB_OK; SFB_BAD_CONTINUATION: there is no frame, as options.coroutine should be suspended, and is not
 */
enum sfb_status sfb_async_begin(struct sfb_async_walk *out,
                                const struct sframe_backtrace_options *options);

/* Goes to the next frame. @return as sfb_walker_next(), SFB_BAD_CONTINUATION, SFB_CONTINUATION_CIRCLE */
enum sfb_status sfb_async_step(struct sfb_async_walk *async);

#endif
