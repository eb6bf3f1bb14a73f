/* The common frame, as the encoder and the walk inline it. */
#ifndef SFB_CBF_PUT_H
#define SFB_CBF_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cbf/format.h"
#include "sfb/cbf.h"

/* The count field for a zero-extended operand: its bytes less one. `63 ^ clz` is one bsr. */
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
 * free, and gives the end of them: the operand is shifted to the top, swapped, and stored with a
 * tail of zeros in one mov. What the caller lent is ours up to its size.
 */
static inline uint8_t *cbf_write_operand(uint8_t *at, unsigned opcode, uint64_t operand,
                                         unsigned count)
{
    uint64_t bytes = cbf_big_endian(operand << (56 - 8 * count));

    memcpy(at + 1, &bytes, sizeof bytes);
    at[0] = (uint8_t)(opcode | count);
    return at + count + 2;
}

/*
 * A frame behind another address that it is not equal to, with words of 64 bits, where
 * SFB_CBF_FRAME_SIZE_MAX bytes are free: what sfb_cbf_encoder_put() writes, without its questions.
 *
 * @param opcode  CBF_OP_PC, _RA, or _ASYNC
 */
static inline uint8_t *cbf_put_common(uint8_t *at, unsigned opcode, uint64_t last, uint64_t address)
{
    uint64_t operand = address - last;
    unsigned count = cbf_signed_count(operand), absolute_count = cbf_signed_count(address);

    if (absolute_count < count) {
        operand = address;
        count = absolute_count;
        opcode |= CBF_ADDRESS_ABSOLUTE;
    }
    return cbf_write_operand(at, opcode, operand, count);
}

static inline uint8_t *cbf_put_ra(uint8_t *at, uint64_t last, uint64_t address)
{
    return cbf_put_common(at, CBF_OP_RA, last, address);
}

/* Says that cbf_put_ra() has written up to pos, the last one this address. */
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
