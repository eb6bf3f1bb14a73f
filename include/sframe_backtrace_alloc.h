/**
 * Notes in blocks: an allocator of one's own keeps, in the tail of each block, who asked for it. For pools and small
 * systems; malloc() itself is watched by libsfb-agent-heap.so. Stable. All but sframe_backtrace_cbf() and the CBF
 * decoder is here, inline.
 *
 *     static char block[256]; // what the allocator hands out for a request of 100 bytes
 *     struct sframe_backtrace_alloc_note note;
 *     char line[SFRAME_BACKTRACE_ALLOC_LINE_SIZE];
 *
 *     sframe_backtrace_alloc_put(block, sizeof block, 100, NULL);
 *     // later, for each block in use:
 *     if (sframe_backtrace_alloc_find(&note, block, sizeof block) == SFB_OK &&
 *         sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_LIBRARY) > 0)
 *         puts(line); // `~m#` and base64, for `sfb report --lws PROGRAM < log`
 *
 * A note ends where its block ends, and is read from there backwards. So the pointer that the allocator gives is that of
 * the block, with any alignment. It has the backtrace, what the caller asked for, a check byte, which finds most blocks
 * that were written past their end, and last its size: docs/FORMATS.md, "Notes in blocks".
 *
 * Nothing here locks or keeps anything: the allocator, which knows its blocks, has to.
 */
#ifndef SFRAME_BACKTRACE_ALLOC_H
#define SFRAME_BACKTRACE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/cbf.h"
#include "sframe_backtrace.h"

SFB_BEGIN_DECLS

/* Bytes of a note without frames, whatever is requested: each block has to have them behind what its user may write. */
#define SFRAME_BACKTRACE_ALLOC_NOTE_MIN 16

/* Bytes of a note at most: some 50 frames. */
#define SFRAME_BACKTRACE_ALLOC_NOTE_MAX 256

/* Room for any line, with its zero. A line has 31 frames at most. */
#define SFRAME_BACKTRACE_ALLOC_LINE_SIZE 512

/* How the lines of libwebsockets are written. docs/QUIRKS.md */
enum sframe_backtrace_alloc_dialect {
    SFRAME_BACKTRACE_ALLOC_LIBRARY =
        0,                            /* as libwebsockets and its tool do: a 0 behind each field */
    SFRAME_BACKTRACE_ALLOC_README = 1 /* as its documentation says */
};

/* What a block says of itself. */
struct sframe_backtrace_alloc_note {
    const uint8_t *cbf; /* who asked for it: a complete backtrace; in the block */
    size_t cbf_size;
    size_t requested; /* bytes that were asked for */
    size_t size;      /* bytes of the note itself */
};

/* What follows is inlined even without optimization: the first frame is that of the caller, not one of this header. */
#if defined(__GNUC__)
#define SFB_ALLOC_INLINE static inline __attribute__((always_inline, unused))
#else
#define SFB_ALLOC_INLINE static inline
#endif

/* Private: the check byte. */
SFB_ALLOC_INLINE uint8_t sfb_alloc_sum(const uint8_t *bytes, size_t size)
{
    unsigned sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += bytes[i];
    return (uint8_t)sum;
}

/**
 * Makes a note of the caller, for allocators that choose the size of a block by it: they ask for
 * sframe_backtrace_alloc_size() bytes, and copy the note with sframe_backtrace_alloc_place(). Those whose blocks have a
 * fixed size call sframe_backtrace_alloc_put() instead.
 *
 * The backtrace begins in the function that calls this one, which is the allocator's; options->skip leaves that out.
 *
 * @param note       written; any alignment
 * @param room       bytes at note; SFRAME_BACKTRACE_ALLOC_NOTE_MAX are used at most. A stack that does not fit is cut at
 *                   its outer end, or in the middle: options->outermost.
 * @param requested  bytes that the user asked for
 * @param options    of sframe_backtrace_cbf(); NULL: all defaults. If it refuses, the note has no frames.
 *
 * @return bytes of the note; 0: room is below SFRAME_BACKTRACE_ALLOC_NOTE_MIN, and nothing was written
 *
 * Threads, signals: as sframe_backtrace_cbf().   Cost: the same, and 10 to 40 ns.
 */
SFB_ALLOC_INLINE size_t sframe_backtrace_alloc_make(uint8_t *note, size_t room, size_t requested,
                                                    const struct sframe_backtrace_options *options)
{
    size_t at = 0, rest = requested;
    ssize_t cbf;

    if (room < SFRAME_BACKTRACE_ALLOC_NOTE_MIN)
        return 0;
    if (room > SFRAME_BACKTRACE_ALLOC_NOTE_MAX)
        room = SFRAME_BACKTRACE_ALLOC_NOTE_MAX;
    for (; rest >= 0x80; rest >>= 7)
        note[at++] = (uint8_t)(rest | 0x80);
    note[at++] = (uint8_t)rest;
    cbf = sframe_backtrace_cbf(note + at, room - at - 3, options, NULL);
    if (cbf < 0) { /* 64 bits, and no frame */
        note[at] = 0x02;
        note[at + 1] = 0x01;
        cbf = 2;
    }
    at += (size_t)cbf;
    note[at] = sfb_alloc_sum(note, at);
    at += 3;
    note[at - 2] = (uint8_t)(at >> 8);
    note[at - 1] = (uint8_t)at;
    return at;
}

/**
 * Says how many bytes a block needs for a request and its note.
 *
 * @param requested  bytes that the user asked for
 * @param note       bytes of the note; without one made yet, SFRAME_BACKTRACE_ALLOC_NOTE_MIN to _MAX
 *
 * @return their sum; 0: it is no size_t
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_ALLOC_INLINE size_t sframe_backtrace_alloc_size(size_t requested, size_t note)
{
    return requested > SIZE_MAX - note ? 0 : requested + note;
}

/**
 * Copies a note to the end of its block.
 *
 * @param block       its first byte
 * @param block_size  all its bytes, also those that the allocator added for alignment
 * @param note        of sframe_backtrace_alloc_make()
 * @param size        what that returned
 *
 * @return whether there was room for it: block_size is at least size. Then the last size bytes of the block were
 *         written, else nothing.
 *
 * Threads: safe, each with its own block.   Signals: safe.   Cost: that of copying the note.
 */
SFB_ALLOC_INLINE bool sframe_backtrace_alloc_place(void *block, size_t block_size,
                                                   const uint8_t *note, size_t size)
{
    uint8_t *to = (uint8_t *)block + block_size;

    if (size < 6 || size > block_size)
        return false;
    for (to -= size; size > 0; size--)
        *to++ = *note++;
    return true;
}

/**
 * Makes a note of the caller and puts it at the end of a block: the two functions above in one. What was requested is
 * left alone.
 *
 * @param block       its first byte
 * @param block_size  all its bytes: requested, and SFRAME_BACKTRACE_ALLOC_NOTE_MIN more at least. What is more goes to
 *                    frames: 64 bytes bear some 12.
 * @param requested, options  as in sframe_backtrace_alloc_make()
 *
 * @return bytes of the note; 0: there is no room for one, and nothing was written. Then the end of the block is the
 *         user's, and must not be searched for a note.
 *
 * Threads: safe, each with its own block.   Signals: safe.
 * Cost: as sframe_backtrace_alloc_make(), and 256 bytes of stack.
 */
SFB_ALLOC_INLINE size_t sframe_backtrace_alloc_put(void *block, size_t block_size, size_t requested,
                                                   const struct sframe_backtrace_options *options)
{
    uint8_t note[SFRAME_BACKTRACE_ALLOC_NOTE_MAX];
    const size_t room = requested < block_size ? block_size - requested : 0;
    const size_t size = sframe_backtrace_alloc_make(note, room < sizeof note ? room : sizeof note,
                                                    requested, options);

    return sframe_backtrace_alloc_place(block, block_size, note, size) ? size : 0;
}

/**
 * Finds the note of a block, from the end of the block. None of its bytes is believed.
 *
 * @param out         written on SFB_OK; points into the block
 * @param block       its first byte
 * @param block_size  all its bytes, as it was given to sframe_backtrace_alloc_put()
 *
 * @return SFB_OK
 *         SFB_TRUNCATED       the size of the note is none that can be
 *         SFB_BAD_HEADER      the check is wrong, or what was requested does not fit the block: the block was written
 *                             past its end, as a rule
 *         SFB_BAD_ARGUMENT    out or block is NULL
 *         The backtrace itself is not decoded: sfb_cbf_decoder_init() and what follows judge it.
 *
 * Threads: safe; the block must not change.   Signals: safe.   Cost: 15 to 25 ns.
 */
SFB_ALLOC_INLINE enum sfb_status sframe_backtrace_alloc_find(
    struct sframe_backtrace_alloc_note *out, const void *block, size_t block_size)
{
    const uint8_t *end, *note;
    size_t size, at = 0, requested = 0;
    unsigned shift = 0;

    if (!out || !block)
        return SFB_BAD_ARGUMENT;
    if (block_size < 6)
        return SFB_TRUNCATED;
    end = (const uint8_t *)block + block_size;
    size = (size_t)(end[-2] << 8 | end[-1]);
    if (size < 6 || size > block_size || size > SFRAME_BACKTRACE_ALLOC_NOTE_MAX)
        return SFB_TRUNCATED;
    note = end - size;
    if (sfb_alloc_sum(note, size - 3) != note[size - 3])
        return SFB_BAD_HEADER;
    for (; at < size - 5 && (note[at] & 0x80) != 0 && shift < 8 * sizeof requested - 7; shift += 7)
        requested |= (size_t)(note[at++] & 0x7f) << shift;
    if (at >= size - 5 || (note[at] & 0x80) != 0 ||
        (size_t)note[at] << shift >> shift != (size_t)note[at])
        return SFB_BAD_HEADER;
    requested |= (size_t)note[at++] << shift;
    if (requested > block_size - size)
        return SFB_BAD_HEADER;
    out->cbf = note + at;
    out->cbf_size = size - 3 - at;
    out->requested = requested;
    out->size = size;
    return SFB_OK;
}

/* --- Lines of a log ------------------------------------------------------------------------------------------------ */

/* Private: bits as they are written, the high ones first, and their base64. */
struct sfb_alloc_bits {
    uint8_t bytes[SFRAME_BACKTRACE_ALLOC_LINE_SIZE * 3 / 4];
    size_t count;   /* of bits */
    unsigned stray; /* bits of 0 behind each field */
};

/* Private: writes a field; what does not fit is not written, but counted. */
SFB_ALLOC_INLINE void sfb_alloc_field(struct sfb_alloc_bits *b, uint64_t value, unsigned width)
{
    for (unsigned left = width + b->stray; left > 0; left--, b->count++) {
        const unsigned place = left - 1;
        const bool bit = place >= b->stray && (value >> (place - b->stray) & 1) != 0;

        if (b->count / 8 >= sizeof b->bytes)
            continue;
        if (b->count % 8 == 0)
            b->bytes[b->count / 8] = 0;
        if (bit)
            b->bytes[b->count / 8] |= (uint8_t)(0x80 >> b->count % 8);
    }
}

/* Private: bits that a value takes; of 0 one. */
SFB_ALLOC_INLINE unsigned sfb_alloc_width(uint64_t value)
{
    unsigned width = 1;

    while (value >>= 1)
        width++;
    return width;
}

/* Private: an address, by itself or by its distance from the nearest of the eight before it. */
SFB_ALLOC_INLINE void sfb_alloc_address(struct sfb_alloc_bits *b, const uint64_t *frames, size_t at)
{
    const size_t first = at > 8 ? at - 8 : 0;
    uint64_t nearest = UINT64_MAX;
    unsigned back = 0;
    bool below = false;

    for (size_t i = first; i < at; i++) {
        const bool less = frames[at] <= frames[i];
        const uint64_t distance = less ? frames[i] - frames[at] : frames[at] - frames[i];

        if (distance < nearest) {
            nearest = distance;
            back = (unsigned)(at - i - 1);
            below = less;
        }
    }
    if (at > 0 && sfb_alloc_width(nearest) + 11 < sfb_alloc_width(frames[at]) + 7) {
        sfb_alloc_field(b, 1, 1);
        sfb_alloc_field(b, back, 3);
        sfb_alloc_field(b, below, 1);
        sfb_alloc_field(b, sfb_alloc_width(nearest), 6);
        sfb_alloc_field(b, nearest, sfb_alloc_width(nearest));
    } else {
        sfb_alloc_field(b, 0, 1);
        sfb_alloc_field(b, sfb_alloc_width(frames[at]), 6);
        sfb_alloc_field(b, frames[at], sfb_alloc_width(frames[at]));
    }
}

/* Private: a size, and the length of all behind it. @return bytes */
SFB_ALLOC_INLINE size_t sfb_alloc_end(struct sfb_alloc_bits *b, uint64_t requested)
{
    size_t size;

    sfb_alloc_field(b, sfb_alloc_width(requested), 6);
    sfb_alloc_field(b, requested, sfb_alloc_width(requested));
    size = (b->count + 7) / 8 + 2;
    if (size > sizeof b->bytes)
        return 0;
    b->bytes[size - 2] = (uint8_t)(size >> 8);
    b->bytes[size - 1] = (uint8_t)size;
    return size;
}

/**
 * Writes a note as a line of libwebsockets' kind: `~m#` and base64, with a zero behind it and no newline.
 *
 * It has the 31 innermost addresses at most, in the order of the note, and what was requested. It does not say which
 * frames were left out. Addresses of 2^63 and more, and what follows them, are left out.
 *
 * @param line     written
 * @param size     bytes at line; SFRAME_BACKTRACE_ALLOC_LINE_SIZE are enough for any
 * @param note     of sframe_backtrace_alloc_find(); its block must not change
 * @param dialect  how
 *
 * @return bytes of the line, without the zero; 0: it does not fit, or the backtrace is damaged
 *
 * Threads, signals: safe.   Cost: 1 to 3 us, and 1 KiB of stack.
 * Source: READMEs/README.lws_backtrace.md of libwebsockets.
 */
static inline size_t sframe_backtrace_alloc_line(char *line, size_t size,
                                                 const struct sframe_backtrace_alloc_note *note,
                                                 enum sframe_backtrace_alloc_dialect dialect)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct sfb_alloc_bits b;
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status;
    uint64_t frames[31];
    size_t depth = 0, bytes, at = 3;

    status = sfb_cbf_decoder_init(&decoder, note->cbf, note->cbf_size, NULL, NULL);
    while (status == SFB_OK && depth < 31 &&
           (status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        if (item.kind != SFB_FRAME_OMIT && item.value > INT64_MAX)
            break;
        for (uint64_t i = 0; item.kind != SFB_FRAME_OMIT && i < item.count && depth < 31; i++)
            frames[depth++] = item.value;
    }
    if (status != SFB_OK && status != SFB_END)
        return 0;
    b.count = 0;
    b.stray = dialect == SFRAME_BACKTRACE_ALLOC_README ? 0 : 1;
    sfb_alloc_field(&b, depth, 5);
    for (size_t i = 0; i < depth; i++)
        sfb_alloc_address(&b, frames, i);
    bytes = sfb_alloc_end(&b, note->requested);
    if (bytes == 0 || size < 3 + (bytes + 2) / 3 * 4 + 1)
        return 0;
    line[0] = '~';
    line[1] = 'm';
    line[2] = '#';
    for (size_t i = 0; i < bytes; i += 3) {
        const unsigned more = bytes - i > 2 ? 2 : (unsigned)(bytes - i - 1);
        const uint32_t group = (uint32_t)b.bytes[i] << 16 |
                               (more > 0 ? (uint32_t)b.bytes[i + 1] << 8 : 0) |
                               (more > 1 ? (uint32_t)b.bytes[i + 2] : 0);

        line[at++] = letters[group >> 18];
        line[at++] = letters[group >> 12 & 63];
        line[at++] = more > 0 ? letters[group >> 6 & 63] : '=';
        line[at++] = more > 1 ? letters[group & 63] : '=';
    }
    line[at] = '\0';
    return at;
}

#undef SFB_ALLOC_INLINE

SFB_END_DECLS

#endif
