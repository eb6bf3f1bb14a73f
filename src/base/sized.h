/*
 * Structs with `size`: one rule lets all of them grow.
 *
 * - A smaller struct than ours comes from an older caller. What is missing counts as zero.
 * - A larger one comes from a newer caller. It is accepted if what we do not know is zero.
 * - Of an out-struct, min(size, ours) bytes are written.
 *
 * `size` is the first member of each such struct, and so a multiple of its own size. Any other value
 * was never set.
 *
 * All of it is here, inline: libsfb-recording.a follows the rule, too, and finds no function of this folder in the
 * shared library.
 */
#ifndef SFB_BASE_SIZED_H
#define SFB_BASE_SIZED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sfb/status.h"

/* No struct of ours will be larger. A larger size was never set: it is what was in the memory. */
enum { SFB_SIZED_MAX = 4096 };

/* The first member of all of them. */
static inline size_t sfb_sized_size_of(const void *sized)
{
    size_t size;

    memcpy(&size, sized, sizeof size);
    return size;
}

/* @return SFB_OK; SFB_NO_SIZE: an out-struct cannot be written */
static inline enum sfb_status sfb_sized_check(const void *out)
{
    const size_t size = sfb_sized_size_of(out);

    return size == 0 || size % sizeof size != 0 || size > SFB_SIZED_MAX ? SFB_NO_SIZE : SFB_OK;
}

/*
 * Reads an in-struct.
 *
 * @param out   this version's struct, `ours` bytes; its size is `ours` then
 * @param in    the caller's
 *
 * @return SFB_OK; SFB_NO_SIZE; SFB_BAD_ARGUMENT (not zero behind what we know)
 */
static inline enum sfb_status sfb_sized_read(void *out, size_t ours, const void *in)
{
    const uint8_t *bytes = in;
    const size_t size = sfb_sized_size_of(in), known = size < ours ? size : ours;

    if (sfb_sized_check(in) != SFB_OK)
        return SFB_NO_SIZE;
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return SFB_BAD_ARGUMENT;
    memcpy(out, in, known);
    memset((uint8_t *)out + known, 0, ours - known);
    memcpy(out, &ours, sizeof ours);
    return SFB_OK;
}

/*
 * Writes an out-struct, but for its size, which is the caller's.
 *
 * @param out   the caller's, for which sfb_sized_check() said SFB_OK
 * @param from  this version's struct, `ours` bytes
 */
static inline void sfb_sized_write(void *out, const void *from, size_t ours)
{
    const size_t size = sfb_sized_size_of(out), known = size < ours ? size : ours;

    memcpy((uint8_t *)out + sizeof known, (const uint8_t *)from + sizeof known,
           known - sizeof known);
}

#endif
