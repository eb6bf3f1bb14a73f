/*
 * The bytes of Compact Backtrace Format, version 0.
 *
 * The specification has no section numbers; its parts are cited by their words. An instruction is an
 * opcode and, if any, an operand. The opcode's low bits are a count, or the bytes of the operand - 1.
 * Operands are big endian, as Swift's encoder writes them; the specification does not state it.
 */
#ifndef SFB_CBF_FORMAT_H
#define SFB_CBF_FORMAT_H

#include <stdint.h>

#include "sfb/frame.h"

/* "an information byte": vvvvvvss. Sizes 0, 1, 2 are words of 2, 4, 8 bytes; 3 is reserved. */
#define CBF_VERSION            0
#define CBF_INFO_VERSION_SHIFT 2
#define CBF_INFO_SIZE_MASK     0x03
#define CBF_INFO_SIZE_RESERVED 3

/* "The following instructions are currently defined"; what is not named here is reserved. */
#define CBF_OP_END      0x00 /* 0000 0000 */
#define CBF_OP_TRUNC    0x01 /* 0000 0001 */
#define CBF_OP_PC       0x10 /* 0001 annn */
#define CBF_OP_RA       0x20 /* 0010 annn */
#define CBF_OP_ASYNC    0x30 /* 0011 annn */
#define CBF_OP_OMIT     0x40 /* 01xn nnnn */
#define CBF_OP_REP      0x80 /* 1000 xnnn */
#define CBF_OP_RESERVED 0x90 /* from here to 0xff */

/* pc, ra, async: "the next count + 1 bytes following the instruction are an address value". */
#define CBF_ADDRESS_ABSOLUTE 0x08 /* a */
#define CBF_ADDRESS_COUNT    0x07

/* omit: "If x is 0, count + 1 is the number of frames that were omitted". */
#define CBF_OMIT_LONG      0x20 /* x */
#define CBF_OMIT_COUNT     0x1f
#define CBF_OMIT_SHORT_MAX (CBF_OMIT_COUNT + 1)

/* repeat: "If x is 0, the previous frame should be repeated count + 1 times". */
#define CBF_REP_LONG      0x08 /* x */
#define CBF_REP_COUNT     0x07
#define CBF_REP_SHORT_MAX (CBF_REP_COUNT + 1)

/* Frame kinds have the order of the address opcodes. */
_Static_assert(CBF_OP_PC == (SFB_FRAME_PC + 1) << 4, "pc");
_Static_assert(CBF_OP_RA == (SFB_FRAME_RA + 1) << 4, "ra");
_Static_assert(CBF_OP_ASYNC == (SFB_FRAME_ASYNC + 1) << 4, "async");

/* Takes the low 64 - shift bits of v for a signed number. The right shift is arithmetic in gcc and
   clang, which document it; C leaves it to them. */
static inline uint64_t cbf_sign_extend(uint64_t v, unsigned shift)
{
    return (uint64_t)((int64_t)(v << shift) >> shift);
}

#endif
