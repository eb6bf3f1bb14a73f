/* What the front door asks of a walker beside <sfb/walk.h>: to go on from where a stride came to.
 */
#ifndef SFB_UNWIND_WALKER_H
#define SFB_UNWIND_WALKER_H

#include "sfb/walk.h"

/*
 * sfb_walker_init() for this process, with what is known of its stack already in out->own_memory.
 *
 * @param flags  enum sfb_walker_flags
 */
void sfb_walker_begin(struct sfb_walker *out, struct sfb_context *start, enum sfb_frame_kind kind,
                      uint32_t flags);

/* Puts the walker on a frame further out, a return address that tables led to. */
void sfb_walker_resume(struct sfb_walker *walker, uint64_t pc, uint64_t sp, uint64_t fp);

#endif
