/*
 * Structs with `size`: one rule lets all of them grow.
 *
 * - A smaller struct than ours comes from an older caller. What is missing counts as zero.
 * - A larger one comes from a newer caller. It is accepted if what we do not know is zero.
 * - Of an out-struct, min(size, ours) bytes are written.
 *
 * `size` is the first member of each such struct, and so a multiple of its own size. Any other value
 * was never set.
 */
#ifndef SFB_BASE_SIZED_H
#define SFB_BASE_SIZED_H

#include <stddef.h>

#include "sfb/status.h"

/* No struct of ours will be larger. A larger size was never set: it is what was in the memory. */
enum { SFB_SIZED_MAX = 4096 };

/*
 * Reads an in-struct.
 *
 * @param out   this version's struct, `ours` bytes; its size is `ours` then
 * @param in    the caller's
 *
 * @return SFB_OK; SFB_NO_SIZE; SFB_BAD_ARGUMENT (not zero behind what we know)
 */
enum sfb_status sfb_sized_read(void *out, size_t ours, const void *in);

/* @return SFB_OK; SFB_NO_SIZE: an out-struct cannot be written */
enum sfb_status sfb_sized_check(const void *out);

/*
 * Writes an out-struct, but for its size, which is the caller's.
 *
 * @param out   the caller's, for which sfb_sized_check() said SFB_OK
 * @param from  this version's struct, `ours` bytes
 */
void sfb_sized_write(void *out, const void *from, size_t ours);

#endif
