/* The common frame, as the encoder and the walk inline it. */
#ifndef SFB_CBF_PUT_H
#define SFB_CBF_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cbf/format.h"
#include "sfb/cbf.h"

#define CBF_NO_FRAME 0xff /* a kind that no frame has */

/* Or-ed to the width of the first relative operand, it makes every absolute one the shorter. */
#define CBF_NEVER_RELATIVE 8

/* The count field for a zero-extended operand: its bytes - 1. `63 ^ clz` is one bsr. */
static inline unsigned cbf_unsigned_count(uint64_t v)
{
    return (63u ^ (unsigned)__builtin_clzll(v | 1)) / 8;
}

/* The count field for a sign-extended operand: it needs the byte above its highest bit that differs
   from the sign, or the rest of the same byte. */
static inline unsigned cbf_signed_count(uint64_t v)
{
    uint64_t differs = v ^ (uint64_t)((int64_t)v >> 63);

    return cbf_unsigned_count(differs << 1);
}

static inline uint64_t cbf_big_endian(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return v;
#else
    return __builtin_bswap64(v);
#endif
}

/*
 * Writes an opcode and the low count + 1 bytes of an operand where SFB_CBF_FRAME_SIZE_MAX bytes are
 * free, and gives their end. The operand is shifted to the top, swapped, and stored with a tail of zeros
 * in one mov. The caller's buffer may be overwritten up to its size.
 */
static inline uint8_t *cbf_write_operand(uint8_t *at, unsigned opcode, uint64_t operand,
                                         unsigned count)
{
    uint64_t bytes = cbf_big_endian(operand << (56 - 8 * count));

    memcpy(at + 1, &bytes, sizeof bytes);
    at[0] = (uint8_t)(opcode | count);
    return at + count + 2;
}

/* cbf_put_common() if the absolute form may be shorter, or the difference takes more than four bytes. */
uint8_t *cbf_put_far(uint8_t *at, unsigned opcode, uint64_t last, uint64_t address);

/*
 * Writes a frame behind a different address, in words of 64 bits, where SFB_CBF_FRAME_SIZE_MAX bytes are free. The bytes
 * equal sfb_cbf_encoder_put()'s, without its checks.
 *
 * A difference that is not larger than the address takes no more bytes. Nearly all are so, and take at most four. These
 * are written with their opcode in one mov: swapped, and shifted down to the significant bytes.
 *
 * @param opcode  CBF_OP_PC, _RA, or _ASYNC
 */
static inline uint8_t *cbf_put_common(uint8_t *at, unsigned opcode, uint64_t last, uint64_t address)
{
    const uint64_t difference = address - last;
    uint32_t low = (uint32_t)difference, differs, bits;
    uint64_t bytes;

    /* (As signed numbers: that is what an address of 2^63 and more is written as.) */
    if (__builtin_expect(
            difference + (1u << 31) > UINT32_MAX || (int64_t)(last >> 1) > (int64_t)address, 0))
        return cbf_put_far(at, opcode, last, address);
    differs = low ^ (uint32_t)((int32_t)low >> 31);
    bits = (31u ^ (unsigned)__builtin_clz(differs * 2 + 1)) & 24u; /* the count, times 8 */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = ((uint64_t)(opcode | bits / 8) << 56) | (uint64_t)(low << (24 - bits)) << 24;
#else
    bytes = (uint64_t)(__builtin_bswap32(low) >> (24 - bits)) << 8 | opcode | bits / 8;
#endif
    memcpy(at, &bytes, sizeof bytes);
    return at + bits / 8 + 2;
}

/* Inline: what sfb_cbf_encoder_put() does of nearly all frames. @return false: nothing was put, and it must decide */
static inline bool cbf_encoder_put_common(struct sfb_cbf_encoder *e, enum sfb_frame_kind kind,
                                          uint64_t value)
{
    if (__builtin_expect((e->shift | e->first) != 0 || (unsigned)kind >= SFB_FRAME_OMIT ||
                             value == e->last ||
                             (size_t)(e->limit - e->pos) < SFB_CBF_FRAME_SIZE_MAX,
                         0))
        return false;
    e->pos = cbf_put_common(e->pos, CBF_OP_PC + ((unsigned)kind << 4), e->last, value);
    e->last = value;
    e->repeats = 0;
    e->kind = (uint8_t)kind;
    return true;
}

static inline uint8_t *cbf_put_ra(uint8_t *at, uint64_t last, uint64_t address)
{
    return cbf_put_common(at, CBF_OP_RA, last, address);
}

/* sfb_cbf_encoder_init() with words of 64 bits, without its checks. */
static inline void cbf_encoder_begin(struct sfb_cbf_encoder *out, uint8_t *buffer, size_t size)
{
    buffer[0] = CBF_VERSION << CBF_INFO_VERSION_SHIFT | 2;
    *out = (struct sfb_cbf_encoder){ .pos = buffer + 1,
                                     .limit = buffer + size - 1,
                                     .start = buffer,
                                     .kind = CBF_NO_FRAME,
                                     .first = CBF_NEVER_RELATIVE };
}

/* Writes the first address. @return false: the largest may not fit, so sfb_cbf_encoder_put() must decide */
static inline bool cbf_encoder_put_first(struct sfb_cbf_encoder *e, unsigned kind, uint64_t address)
{
    if (e->limit - e->pos < SFB_CBF_FRAME_SIZE_MAX)
        return false;
    e->pos = cbf_write_operand(e->pos, (CBF_OP_PC + (kind << 4)) | CBF_ADDRESS_ABSOLUTE, address,
                               cbf_signed_count(address));
    e->last = address;
    e->kind = (uint8_t)kind;
    e->first = 0;
    return true;
}

/* Updates the encoder after cbf_put_ra(): bytes up to pos, and the last address. */
static inline void cbf_encoder_continue(struct sfb_cbf_encoder *e, uint8_t *pos, uint64_t last)
{
    e->pos = pos;
    e->last = last;
    e->repeats = 0;
    e->kind = SFB_FRAME_RA;
}

/*
 * Repeats the last frame, which has to be an address: what so many sfb_cbf_encoder_put() of it would
 * write, in one step.
 *
 * @return how often there was room for it
 */
uint32_t cbf_encoder_repeat(struct sfb_cbf_encoder *e, uint32_t count);

#endif
