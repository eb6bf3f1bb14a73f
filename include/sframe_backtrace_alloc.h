/**
 * Notes in blocks: a custom allocator keeps the backtrace of each request in the tail of the block. For pools and small
 * systems; libsfb-agent-heap.so watches malloc() itself. Stable. Inline, except for sframe_backtrace_cbf() and the CBF
 * decoder.
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
 * A note ends where its block ends, and is read backwards from there. So the user's pointer is the block's own, with any
 * alignment. A note has the backtrace, the bytes requested, a check byte, and last its size: docs/FORMATS.md, "Notes in
 * blocks". The check byte finds most blocks that were written past their end.
 *
 * Nothing here locks or keeps state: the allocator knows its blocks and does both.
 */
#ifndef SFRAME_BACKTRACE_ALLOC_H
#define SFRAME_BACKTRACE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/cbf.h"
#include "sframe_backtrace.h"

SFB_BEGIN_DECLS

/* Bytes of a note without frames, for any request. Each block needs them behind the bytes of its user. */
#define SFRAME_BACKTRACE_ALLOC_NOTE_MIN 16

/* Most bytes of a note: about 50 frames. */
#define SFRAME_BACKTRACE_ALLOC_NOTE_MAX 256

/* Room for any line, with its zero. A line has 31 frames at most. */
#define SFRAME_BACKTRACE_ALLOC_LINE_SIZE 512

/* Dialects of libwebsockets' lines: docs/QUIRKS.md. */
enum sframe_backtrace_alloc_dialect {
    SFRAME_BACKTRACE_ALLOC_LIBRARY =
        0,                            /* as libwebsockets and its tool do: a 0 behind each field */
    SFRAME_BACKTRACE_ALLOC_README = 1 /* as its documentation says */
};

/* A note that was found. */
struct sframe_backtrace_alloc_note {
    const uint8_t *cbf; /* complete backtrace of the request; points into the block */
    size_t cbf_size;
    size_t requested; /* bytes */
    size_t size;      /* bytes of the note itself */
};

/* Inlined even without optimization, so that the first frame is the caller and not a function of this header. */
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
 * Makes a note of the caller. For allocators that fit the block to the note: they allocate
 * sframe_backtrace_alloc_size() bytes, and copy the note with sframe_backtrace_alloc_place(). Allocators with blocks of a
 * fixed size call sframe_backtrace_alloc_put() instead.
 *
 * The backtrace begins in the function that calls this one, usually the allocator's; options->skip leaves it out.
 *
 * @param note       written; any alignment
 * @param room       bytes at note; at most SFRAME_BACKTRACE_ALLOC_NOTE_MAX are used. A stack that does not fit is cut at
 *                   its outer end, or in the middle: options->outermost.
 * @param requested  bytes that the user requested
 * @param options    of sframe_backtrace_cbf(); NULL: all defaults. If it refuses, the note has no frames.
 *
 * @return bytes of the note; 0: room is below SFRAME_BACKTRACE_ALLOC_NOTE_MIN, nothing was written
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
 * @param requested  bytes that the user requested
 * @param note       bytes of the note; before it is made, SFRAME_BACKTRACE_ALLOC_NOTE_MIN to _MAX
 *
 * @return their sum; 0: it overflows size_t
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
 * @param block_size  all its bytes, padding for alignment included
 * @param note        of sframe_backtrace_alloc_make()
 * @param size        as sframe_backtrace_alloc_make() returned it
 *
 * @return true: the last `size` bytes of the block were written; false: block_size is below size, nothing was written
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
 * Makes a note of the caller and puts it at the end of a block: sframe_backtrace_alloc_make() and _place() in one. The
 * requested bytes are not touched.
 *
 * @param block       its first byte
 * @param block_size  all its bytes: at least requested + SFRAME_BACKTRACE_ALLOC_NOTE_MIN. Further bytes hold frames:
 *                    about 12 in 64 bytes.
 * @param requested, options  as in sframe_backtrace_alloc_make()
 *
 * @return bytes of the note; 0: no room, nothing was written. Then the end of the block is the user's, and must not be
 *         searched for a note.
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
 * Finds the note of a block, from the end of the block. Each byte is checked before it is used.
 *
 * @param out         written on SFB_OK; points into the block
 * @param block       its first byte
 * @param block_size  all its bytes, as given to sframe_backtrace_alloc_put()
 *
 * @return SFB_OK
 *         SFB_TRUNCATED       the note's size is impossible
 *         SFB_BAD_HEADER      the check byte is wrong, or the requested size exceeds the block: usually the block was
 *                             written past its end
 *         SFB_BAD_ARGUMENT    out or block is NULL
 *         The backtrace itself is not decoded: sfb_cbf_decoder_init() and _next() check it.
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

/* Private: the bits of a line, high bits first, before base64. */
struct sfb_alloc_bits {
    uint8_t bytes[SFRAME_BACKTRACE_ALLOC_LINE_SIZE * 3 / 4];
    size_t count;   /* of bits */
    unsigned stray; /* padding: bits of 0 behind each field */
};

/* Private: writes a field. Bits that do not fit are counted, not written. */
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

/* Private: width of a value in bits; 1 for 0. */
SFB_ALLOC_INLINE unsigned sfb_alloc_width(uint64_t value)
{
    unsigned width = 1;

    while (value >>= 1)
        width++;
    return width;
}

/* Private: writes an address, in full or as its distance from the nearest of the eight before it. */
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

/* Private: writes the requested size, then the length of the whole. @return that length in bytes; 0: it does not fit */
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
 * Writes a note as a log line of libwebsockets: `~m#` and base64, zero-terminated, without a newline.
 *
 * The line has at most the 31 innermost addresses, in the order of the note, and the requested size. It does not say
 * which frames were left out. It stops before the first address of 2^63 or more.
 *
 * @param line     written
 * @param size     bytes at line; SFRAME_BACKTRACE_ALLOC_LINE_SIZE always suffices
 * @param note     of sframe_backtrace_alloc_find(); its block must not change
 * @param dialect  of libwebsockets' library or of its documentation
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
