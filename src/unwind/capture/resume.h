/*
 * A walk that goes on where an earlier call stopped: the inside of struct sframe_backtrace_resume.
 *
 * The state is the frame that the next call gives first, with all registers known there, so that no
 * frame further in is needed: those may be gone by then.
 */
#ifndef SFB_UNWIND_CAPTURE_RESUME_H
#define SFB_UNWIND_CAPTURE_RESUME_H

#include <stdbool.h>

#include "sframe_backtrace.h"
#include "unwind/capture/capture_walk.h"

/*
 * Tells what a call with this state does. The frame is stepped once more: if its caller is another one, by the
 * return address at its CFA, or if the frame lies further in than the caller of this call, it is gone.
 *
 * @param here  registers of the front door's caller
 *
 * @return SFB_OK             it walks
 *         SFB_END            it gives no frame: the last one was given before
 *         SFB_STACK_CHANGED  the frame is gone
 *         SFB_BAD_ARGUMENT   the state was not filled by a call, or outermost frames are asked for
 */
enum sfb_status sfb_resume_check(const struct sframe_backtrace_options *options,
                                 const struct sfb_context *here);

/* @return how the walk ended; for a state that sfb_resume_check() called SFB_END */
enum sfb_status sfb_resume_end(const struct sframe_backtrace_resume *resume);

/* @return whether the walk begins in the state's frame; false: where the options say */
bool sfb_resume_has_frame(const struct sframe_backtrace_resume *resume);

/*
 * Begins a walk in the state's frame.
 *
 * @param start  written; borrowed until the walk ends, as in sfb_capture_walk_begin()
 */
void sfb_resume_begin(struct sfb_capture_walk *out, const struct sframe_backtrace_resume *resume,
                      struct sfb_context *start, uint32_t flags);

/* @return what found the state's frame */
enum sfb_source sfb_resume_source(const struct sframe_backtrace_resume *resume);

/*
 * Fills the state. Called before the walk ends.
 *
 * @param status  why the walk ends; SFB_FRAME_LIMIT, SFB_BUFFER_FULL: its frame was not given
 * @param source  what found that frame
 *
 * @return status; or why the walk ended, if the frame that was not given is not real
 *
 * Cost: 0.2 us for each frame that this call gave.
 */
enum sfb_status sfb_resume_stop(struct sframe_backtrace_resume *resume,
                                struct sfb_capture_walk *walk, enum sfb_source source,
                                enum sfb_status status);

#endif
