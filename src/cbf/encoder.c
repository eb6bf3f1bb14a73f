/*
 * Frames to bytes, one call a frame.
 *
 * Each frame is written as short as possible on its own, and that gives the smallest whole. A later
 * frame depends on the address and the frame before, not on how they were written. A run of equal frames
 * is one `rep`, rewritten in place as it grows. If its count were deferred to the end of the run, a put
 * could fail because of the frame before it.
 */
#include "sfb/cbf.h"

#include <string.h>

#include "cbf/format.h"
#include "cbf/put.h"

/* Out of the way of the common frame, which then needs no stack. */
#define COLD        __attribute__((noinline))
#define UNLIKELY(x) __builtin_expect(x, 0)

_Static_assert(sizeof(struct sfb_cbf_encoder) <= 64, "the state is one cache line");

/* write_operand() near the limit: writes only the needed bytes, one by one. */
static COLD uint8_t *write_tight(uint8_t *at, const uint8_t *limit, unsigned opcode,
                                 uint64_t operand, unsigned count)
{
    if ((size_t)(limit - at) < count + 2)
        return NULL;
    *at++ = (uint8_t)(opcode | count);
    for (unsigned i = count + 1; i-- > 0;)
        *at++ = (uint8_t)(operand >> 8 * i);
    return at;
}

/* Writes an opcode and the low count + 1 bytes of an operand, and gives the end of them, or NULL if
   that is behind the limit. */
static inline uint8_t *write_operand(uint8_t *at, const uint8_t *limit, unsigned opcode,
                                     uint64_t operand, unsigned count)
{
    if (UNLIKELY((size_t)(limit - at) < SFB_CBF_FRAME_SIZE_MAX))
        return write_tight(at, limit, opcode, operand, count);
    return cbf_write_operand(at, opcode, operand, count);
}

/* Writes a count the short way if it is at most short_max, else with as few bytes as hold it. */
static inline uint8_t *write_count(uint8_t *at, const uint8_t *limit, unsigned opcode,
                                   uint64_t count, unsigned short_max, unsigned long_bit)
{
    if (count > short_max)
        return write_operand(at, limit, opcode | long_bit, count, cbf_unsigned_count(count));
    if (at == limit)
        return NULL;
    *at = (uint8_t)(opcode + count - 1);
    return at + 1;
}

static COLD enum sfb_status put_omit(struct sfb_cbf_encoder *e, uint64_t frames)
{
    uint8_t *pos;

    if (frames == 0)
        return SFB_BAD_ARGUMENT;
    pos = write_count(e->pos, e->limit, CBF_OP_OMIT, frames, CBF_OMIT_SHORT_MAX, CBF_OMIT_LONG);
    if (pos == NULL)
        return SFB_BUFFER_FULL;
    e->pos = pos;
    e->repeats = 0;
    e->kind = SFB_FRAME_OMIT;
    return SFB_OK;
}

/* @return bytes of the rep instruction for a count of repeats */
static unsigned rep_size(uint32_t repeats)
{
    if (repeats <= CBF_REP_SHORT_MAX)
        return repeats > 0;
    return 2 + cbf_unsigned_count(repeats);
}

/* Repeats the frame before: rewrites the open rep, or opens one. @return false: it does not fit one rep or the buffer */
static COLD bool put_repeats(struct sfb_cbf_encoder *e, uint32_t count)
{
    uint32_t max = e->shift > 32 ? UINT16_MAX : SFB_CBF_REP_MAX; /* what a word holds */
    uint32_t open = e->repeats < max ? e->repeats : 0;
    uint8_t *pos;

    if (count > max - open)
        return false;
    pos = write_count(e->pos - rep_size(open), e->limit, CBF_OP_REP, (uint64_t)open + count,
                      CBF_REP_SHORT_MAX, CBF_REP_LONG);
    if (pos == NULL)
        return false;
    e->pos = pos;
    e->repeats = open + count;
    return true;
}

uint32_t cbf_encoder_repeat(struct sfb_cbf_encoder *e, uint32_t count)
{
    uint32_t done = 0;

    if (count == 0 || put_repeats(e, count))
        return count;
    /* They do not fit one instruction, or not all of them. */
    while (done < count && put_repeats(e, 1))
        done++;
    return done;
}

enum sfb_status sfb_cbf_encoder_init(struct sfb_cbf_encoder *out, void *buffer, size_t size,
                                     unsigned word_bits)
{
    unsigned code = word_bits == 16 ? 0 : word_bits == 32 ? 1 : 2;
    uint8_t *start = buffer;

    if (out == NULL || buffer == NULL || word_bits != 16u << code)
        return SFB_BAD_ARGUMENT;
    if (size < SFB_CBF_SIZE_MIN)
        return SFB_BUFFER_TOO_SMALL;
    start[0] = (uint8_t)(CBF_VERSION << CBF_INFO_VERSION_SHIFT | code);
    *out = (struct sfb_cbf_encoder){
        .pos = start + 1,
        .limit = start + size - 1,
        .start = start,
        .shift = (uint8_t)(64 - word_bits),
        .kind = CBF_NO_FRAME,
        .first = CBF_NEVER_RELATIVE,
    };
    return SFB_OK;
}

/* All that is not common: narrow words, no room to spare, the first address, no address, a repeat.
 */
static COLD enum sfb_status put_uncommon(struct sfb_cbf_encoder *e, enum sfb_frame_kind kind,
                                         uint64_t value)
{
    uint64_t absolute = cbf_sign_extend(value, e->shift);
    uint64_t relative = cbf_sign_extend(value - e->last, e->shift);
    unsigned absolute_count, relative_count, opcode;
    bool is_absolute;
    uint8_t *pos;

    if (value > UINT64_MAX >> e->shift)
        return SFB_BAD_ARGUMENT;
    if ((unsigned)kind >= SFB_FRAME_OMIT)
        return kind == SFB_FRAME_OMIT ? put_omit(e, value) : SFB_BAD_ARGUMENT;
    if (relative == 0 && kind == e->kind)
        return put_repeats(e, 1) ? SFB_OK : SFB_BUFFER_FULL;

    absolute_count = cbf_signed_count(absolute);
    relative_count = cbf_signed_count(relative) | e->first;
    is_absolute = absolute_count < relative_count;
    opcode = CBF_OP_PC + ((unsigned)kind << 4);
    pos = write_operand(e->pos, e->limit, is_absolute ? opcode | CBF_ADDRESS_ABSOLUTE : opcode,
                        is_absolute ? absolute : relative,
                        is_absolute ? absolute_count : relative_count);
    if (pos == NULL)
        return SFB_BUFFER_FULL;
    e->pos = pos;
    e->last = value;
    e->repeats = 0;
    e->kind = (uint8_t)kind;
    e->first = 0;
    return SFB_OK;
}

enum sfb_status sfb_cbf_encoder_put(struct sfb_cbf_encoder *encoder, enum sfb_frame_kind kind,
                                    uint64_t value)
{
    return cbf_encoder_put_common(encoder, kind, value) ? SFB_OK
                                                        : put_uncommon(encoder, kind, value);
}

void sfb_cbf_encoder_extend(struct sfb_cbf_encoder *encoder, size_t size)
{
    size_t held = (size_t)(encoder->limit - encoder->start) + 1;

    if (size > held)
        encoder->limit += size - held;
}

size_t sfb_cbf_encoder_end(struct sfb_cbf_encoder *encoder, bool truncated)
{
    *encoder->pos = truncated ? CBF_OP_TRUNC : CBF_OP_END;
    return (size_t)(encoder->pos - encoder->start) + 1;
}
