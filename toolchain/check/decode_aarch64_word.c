/*
 * AArch64 by the bits: loads and stores, which capstone releases describe differently, and pointer
 * authentication, which some do not know.
 *
 * Source: Arm Architecture Reference Manual, "C4.1 A64 instruction set encoding".
 */
#include "toolchain/check/decode.h"

enum { LR = 30, SP = 31 };

/* Scratch registers of calls: x0 to x18, and the link register. */
#define SCRATCH (0x7ffffu | UINT32_C(1) << LR)

#define NOP     0xd503201fu
#define PACIASP 0xd503233fu
#define PACIBSP 0xd503237fu
#define AUTIASP 0xd50323bfu
#define AUTIBSP 0xd50323ffu
#define XPACLRI 0xd50320ffu
#define RETAA   0xd65f0bffu
#define RETAB   0xd65f0fffu

/* When the base of an access changes. */
enum index { OFFSET, BEFORE, AFTER };

static int32_t signed_field(uint32_t word, unsigned shift, unsigned bits)
{
    return (int32_t)(word << (32 - shift - bits)) >> (32 - bits);
}

static void put_access(struct insn *out, uint32_t word, bool load, bool vector, unsigned bytes,
                       int32_t amount, enum index index)
{
    out->what = load ? WHAT_LOAD : WHAT_STORE;
    out->base = word >> 5 & 31;
    out->bytes = (uint16_t)bytes;
    out->words = 1;
    if (!vector && (word & 31) != SP) /* number 31 is xzr as data */
        out->reg[0] = word & 31;
    switch (index) {
    case OFFSET: out->amount = amount; break;
    case BEFORE: out->before = amount; break;
    case AFTER: out->after = amount; break;
    }
}

static bool decode_pair(struct insn *out, uint32_t word)
{
    static const enum index indices[] = { OFFSET, AFTER, OFFSET, BEFORE };
    const bool vector = (word >> 26 & 1) != 0;
    const unsigned opc = word >> 30, bytes = vector ? 4u << opc : opc == 2 ? 8u : 4u;

    if ((word & 0x3a000000u) != 0x28000000u || opc == 3)
        return false;
    put_access(out, word, (word >> 22 & 1) != 0, vector, bytes,
               signed_field(word, 15, 7) * (int32_t)bytes, indices[word >> 23 & 3]);
    out->words = 2;
    if (!vector && (word >> 10 & 31) != SP)
        out->reg[1] = word >> 10 & 31;
    return true;
}

static bool decode_single(struct insn *out, uint32_t word)
{
    static const enum index indices[] = { OFFSET, AFTER, OFFSET, BEFORE };
    const bool vector = (word >> 26 & 1) != 0, scaled = (word & 0x3b000000u) == 0x39000000u;
    const unsigned opc = word >> 22 & 3, size = vector && (opc & 2) ? 4 : word >> 30;
    const bool load = vector ? (opc & 1) != 0 : opc != 0;

    if (!scaled && (word & 0x3b200000u) != 0x38000000u)
        return false;
    if (!vector && opc == 2 && size == 3)
        return true; /* prfm */
    if (scaled)
        put_access(out, word, load, vector, 1u << size, (int32_t)((word >> 10 & 0xfff) << size),
                   OFFSET);
    else
        put_access(out, word, load, vector, 1u << size, signed_field(word, 12, 9),
                   indices[word >> 10 & 3]);
    return true;
}

static bool decode_signing(struct insn *out, uint32_t word)
{
    switch (word) {
    case NOP: out->padding = true; return true;
    case PACIASP:
    case PACIBSP:
        out->what = WHAT_SIGN;
        out->amount = word == PACIASP ? 1 : 2;
        return true;
    case AUTIASP:
    case AUTIBSP:
    case XPACLRI: out->what = WHAT_UNSIGN; return true;
    case RETAA:
    case RETAB:
        out->what = WHAT_UNSIGN;
        out->flow = FLOW_RETURN;
        return true;
    default: break;
    }
    if ((word & 0xfefff800u) == 0xd61f0800u) { /* braa, brab */
        out->flow = FLOW_AWAY;
        return true;
    }
    if ((word & 0xfefff800u) == 0xd63f0800u) { /* blraa, blrab */
        out->flow = FLOW_CALL;
        out->kills = SCRATCH;
        return true;
    }
    return false;
}

bool decode_aarch64_word(struct insn *out, uint32_t word)
{
    return decode_signing(out, word) || decode_pair(out, word) || decode_single(out, word);
}

void decode_aarch64_unknown(struct insn *out, uint32_t word)
{
    if ((word & 0xffff0000u) == 0) { /* udf */
        out->flow = FLOW_MAYBE;
        out->padding = true;
    } else if ((word & 31) != SP) {
        out->kills = UINT32_C(1) << (word & 31); /* of most, the destination */
    }
}
