/*
 * Intel's manual, volume 2, appendix A: opcode maps. Decodes the lengths of all instructions that compilers and assemblers
 * write for programs. Instructions that a 64-bit program cannot run are refused.
 */
#include "unwind/machine/insn_decode_x86_64.h"

#include <string.h>

struct cursor {
    const uint8_t *at, *end;
    bool failed;
    bool address32, operand16, wide; /* prefixes 67, 66, REX.W */
    uint8_t r, x, b;                 /* the high bits of register numbers, 0 or 8 */
};

static uint8_t take(struct cursor *c)
{
    if (c->at == c->end) {
        c->failed = true;
        return 0;
    }
    return *c->at++;
}

static int32_t take_number(struct cursor *c, unsigned size)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < size; i++)
        n |= (uint32_t)take(c) << 8 * (i < 4 ? i : 0);
    if (size == 1)
        return (int8_t)n;
    return size == 2 ? (int16_t)n : (int32_t)n;
}

static bool is_prefix(struct cursor *c, uint8_t byte)
{
    switch (byte) {
    case 0x66: c->operand16 = true; return true;
    case 0x67: c->address32 = true; return true;
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x26:
    case 0x64:
    case 0x65:
    case 0xf0:
    case 0xf2:
    case 0xf3: return true;
    default: return false;
    }
}

static void take_rex(struct cursor *c, uint8_t rex)
{
    c->wide = rex & 8;
    c->r = rex & 4 ? 8 : 0;
    c->x = rex & 2 ? 8 : 0;
    c->b = rex & 1 ? 8 : 0;
}

/* VEX of two or three bytes, EVEX of four: maps, and registers with their high bits inverted. */
static void take_vector_prefix(struct cursor *c, struct sfb_insn *out, uint8_t first)
{
    uint8_t high = take(c), next = first == 0xc5 ? high : take(c);

    out->by_vector = true;
    out->map = first == 0xc5 ? SFB_INSN_0F : high & (first == 0x62 ? 7 : 31);
    if (out->map == 5 || out->map == 6)
        out->map = SFB_INSN_0F38; /* half precision: no immediate, too */
    c->r = high & 0x80 ? 0 : 8;
    if (first != 0xc5) {
        c->x = high & 0x40 ? 0 : 8;
        c->b = high & 0x20 ? 0 : 8;
    }
    out->also = (uint8_t)(~next >> 3 & 15);
    if (first == 0x62)
        take(c);
    if (out->map == SFB_INSN_ONE_BYTE || out->map >= SFB_INSN_NO_MAP)
        c->failed = true;
}

static void take_modrm(struct cursor *c, struct sfb_insn *out)
{
    uint8_t modrm = take(c), sib;

    out->has_modrm = true;
    out->mode = modrm >> 6;
    out->reg = (uint8_t)((modrm >> 3 & 7) | c->r);
    out->rm = (uint8_t)((modrm & 7) | c->b);
    if (out->mode == 3)
        return;
    if ((modrm & 7) == 4) {
        sib = take(c);
        out->rm = (uint8_t)((sib & 7) | c->b);
        out->has_index = ((sib >> 3 & 7) | c->x) != 4;
    }
    if (out->mode == 0 && (out->rm & 7) == 5) { /* of rip, or of nothing */
        out->has_index = true;
        out->displacement = take_number(c, 4);
    } else if (out->mode != 0) {
        out->displacement = take_number(c, out->mode == 1 ? 1 : 4);
    }
}

enum operands { NONE, MODRM, MODRM_BYTE, MODRM_WORD, BYTE, WORD, BRANCH, BAD };

static enum operands operands_of_low(uint8_t op)
{
    static const uint8_t by_column[8] = { MODRM, MODRM, MODRM, MODRM, BYTE, WORD, BAD, BAD };

    return (enum operands)by_column[op & 7];
}

static enum operands operands_of_one_byte(uint8_t op)
{
    switch (op) {
    case 0x63: return MODRM;
    case 0x68:
    case 0xa9: return WORD;
    case 0x69:
    case 0x81:
    case 0xc7: return MODRM_WORD;
    case 0x6a:
    case 0xa8:
    case 0xcd: return BYTE;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6: return MODRM_BYTE;
    case 0x60:
    case 0x61:
    case 0x82:
    case 0x9a:
    case 0xce:
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xea: return BAD;
    case 0xe8:
    case 0xe9: return BRANCH;
    case 0xeb: return BYTE;
    default: break;
    }
    if (op < 0x40)
        return operands_of_low(op);
    if ((op >= 0x84 && op <= 0x8f) || (op >= 0xd0 && op <= 0xdf) || op == 0xf6 || op == 0xf7 ||
        op >= 0xfe)
        return MODRM;
    if ((op & 0xf0) == 0x70 || (op & 0xf8) == 0xb0 || (op & 0xf8) == 0xe0)
        return BYTE;
    return NONE;
}

static enum operands operands_of_0f(uint8_t op)
{
    if ((op & 0xf0) == 0x80)
        return BRANCH;
    if ((op >= 0x70 && op <= 0x73) || op == 0x0f || op == 0xa4 || op == 0xac || op == 0xba ||
        op == 0xc2 || (op >= 0xc4 && op <= 0xc6))
        return MODRM_BYTE;
    if ((op >= 0x05 && op <= 0x0b) || op == 0x0e || (op >= 0x30 && op <= 0x37) || op == 0x77 ||
        (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) || (op & 0xf8) == 0xc8)
        return NONE;
    return MODRM;
}

static enum operands operands_of(const struct sfb_insn *insn)
{
    switch (insn->map) {
    case SFB_INSN_ONE_BYTE: return operands_of_one_byte(insn->opcode);
    case SFB_INSN_0F: return operands_of_0f(insn->opcode);
    case SFB_INSN_0F38: return MODRM;
    default: return MODRM_BYTE;
    }
}

/* Immediates with another size than their operand's column in the map. */
static void take_odd_numbers(struct cursor *c, struct sfb_insn *out)
{
    const uint8_t op = out->opcode;

    if (out->map != SFB_INSN_ONE_BYTE)
        return;
    if ((op & 0xf8) == 0xb8)
        out->immediate = take_number(c, c->wide ? 8 : c->operand16 ? 2 : 4);
    else if (op >= 0xa0 && op <= 0xa3)
        take_number(c, c->address32 ? 4 : 8);
    else if (op == 0xc2 || op == 0xca)
        out->immediate = take_number(c, 2);
    else if (op == 0xc8)
        take_number(c, 3);
    else if ((op == 0xf6 || op == 0xf7) && (out->reg & 6) == 0) /* test */
        out->immediate = take_number(c, op == 0xf6 ? 1 : c->operand16 ? 2 : 4);
}

static void take_opcode(struct cursor *c, struct sfb_insn *out)
{
    uint8_t byte = take(c);

    while (!c->failed && is_prefix(c, byte))
        byte = take(c);
    if ((byte & 0xf0) == 0x40) {
        take_rex(c, byte);
        byte = take(c);
    }
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
        take_vector_prefix(c, out, byte);
        byte = take(c);
    } else if (byte == 0x0f) {
        out->map = SFB_INSN_0F;
        byte = take(c);
        if (byte == 0x38 || byte == 0x3a) {
            out->map = byte == 0x38 ? SFB_INSN_0F38 : SFB_INSN_0F3A;
            byte = take(c);
        }
    }
    out->opcode = byte;
}

bool sfb_insn_decode(struct sfb_insn *out, const uint8_t *code, unsigned size)
{
    struct cursor c = { .at = code,
                        .end = code + (size < SFB_INSN_LENGTH_MAX ? size : SFB_INSN_LENGTH_MAX) };
    enum operands operands;

    memset(out, 0, sizeof *out);
    out->mode = 3;
    take_opcode(&c, out);
    operands = operands_of(out);
    if (operands == MODRM || operands == MODRM_BYTE || operands == MODRM_WORD)
        take_modrm(&c, out);
    else
        out->rm = (uint8_t)((out->opcode & 7) | c.b);
    if (operands == BYTE || operands == MODRM_BYTE)
        out->immediate = take_number(&c, 1);
    else if (operands == BRANCH)
        out->immediate = take_number(&c, 4);
    else if (operands == WORD || operands == MODRM_WORD)
        out->immediate = take_number(&c, c.operand16 ? 2 : 4);
    take_odd_numbers(&c, out);
    out->small = c.operand16;
    out->length = (uint8_t)(c.at - code);
    /* AMD's XOP begins as `pop m` does. */
    if (out->map == SFB_INSN_ONE_BYTE && out->opcode == 0x8f && (out->reg & 7) != 0)
        return false;
    return !c.failed && operands != BAD;
}

/* cvttsd2si, movmskpd, pextrw, pmovmskb, and of vectors kmov, vcvttsd2usi: what a vector has goes to a register. */
static bool moves_vector_to_reg(const struct sfb_insn *i)
{
    const unsigned op = i->opcode;

    return op == 0x2c || op == 0x2d || op == 0x50 || op == 0xc5 || op == 0xd7 ||
           (i->by_vector && (op == 0x93 || op == 0x78 || op == 0x79));
}

bool sfb_insn_writes_reg(const struct sfb_insn *i)
{
    const unsigned op = i->opcode;

    if (!i->has_modrm)
        return false;
    switch (i->map) {
    case SFB_INSN_ONE_BYTE:
        return (op < 0x38 && (op & 6) == 2) || op == 0x63 || op == 0x69 || op == 0x6b ||
               op == 0x86 || op == 0x87 || op == 0x8a;
    case SFB_INSN_0F:
        return moves_vector_to_reg(i) ||
               (!i->by_vector && ((op & 0xf0) == 0x40 || op == 0xaf || (op >= 0xb6 && op <= 0xbf) ||
                                  op == 0x02 || op == 0x03 || op == 0xc0 || op == 0xc1));
    case SFB_INSN_0F38: return op >= 0xf0 && op <= 0xf8;
    default: return i->by_vector && op == 0xf0;
    }
}

bool sfb_insn_writes_rm(const struct sfb_insn *i)
{
    const unsigned op = i->opcode, group = i->reg & 7;

    if (!i->has_modrm)
        return false;
    /* pextrb and the like; movd and movq of a vector */
    if (i->map == SFB_INSN_0F3A || i->by_vector)
        return i->map == SFB_INSN_0F3A ? op >= 0x14 && op <= 0x17
                                       : i->map == SFB_INSN_0F && op == 0x7e;
    if (i->map == SFB_INSN_ONE_BYTE)
        return (op < 0x38 && (op & 6) == 0) || op == 0x86 || op == 0x87 || op == 0x88 ||
               op == 0x8c || op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
               (op & 0xfc) == 0xd0 || ((op == 0xf6 || op == 0xf7) && (group == 2 || group == 3)) ||
               ((op == 0xfe || op == 0xff) && group < 2);
    return i->map == SFB_INSN_0F &&
           ((op & 0xf0) == 0x90 || op == 0x7e || op == 0xa4 || op == 0xa5 || op == 0xab ||
            op == 0xac || op == 0xad || op == 0xb3 || op == 0xba || op == 0xbb || op == 0xb0 ||
            op == 0xb1 || op == 0xc0 || op == 0xc1 ||
            /* sldt, smsw, rdfsbase, rdrand, rdpid */
            (i->mode == 3 && (op == 0x00 || op == 0x01 || op == 0xae || op == 0xc7)));
}

/* Jumps, calls, returns, push, pop, enter, leave, interrupts, far and privileged ones. */
static bool is_of_control_or_stack(const struct sfb_insn *i)
{
    const unsigned op = i->opcode;

    if (i->by_vector)
        return false;
    if (i->map == SFB_INSN_0F) /* also system calls, ud1, ud2, and push and pop of fs and gs */
        return (op & 0xf0) == 0x80 || op == 0x05 || op == 0x07 || op == 0x0b || op == 0x34 ||
               op == 0x35 || op == 0xb9 || op == 0xff || (op & 0xf6) == 0xa0;
    if (i->map != SFB_INSN_ONE_BYTE)
        return false;
    if (op == 0xff)
        return (i->reg & 7) >= 2;
    if (op == 0xc6 || op == 0xc7) /* xabort, xbegin */
        return (i->reg & 7) == 7;
    return (op & 0xf0) == 0x50 || op == 0x68 || op == 0x6a || (op & 0xf0) == 0x70 || op == 0x8f ||
           op == 0x9b || op == 0x9c || op == 0x9d || op == 0xc2 || op == 0xc3 ||
           (op >= 0xc8 && op <= 0xcf) || (op & 0xf0) == 0xe0 || op == 0xf1 || op == 0xf4;
}

static bool writes(const struct sfb_insn *i, unsigned reg)
{
    const unsigned op = i->opcode;
    const bool one_byte = i->map == SFB_INSN_ONE_BYTE && !i->by_vector;

    /* bswap, xchg with rax, mov of a number: the register is in the opcode. */
    if (!i->has_modrm)
        return i->rm == reg && ((i->map == SFB_INSN_0F && (op & 0xf8) == 0xc8) ||
                                (one_byte && ((op & 0xf8) == 0x90 || (op & 0xf0) == 0xb0)));
    if (i->reg == reg && (sfb_insn_writes_reg(i) || (one_byte && (op == 0x8b || op == 0x8d))))
        return true;
    if (i->by_vector && i->map != SFB_INSN_0F && op >= 0xf0 && i->also == reg)
        return true;
    return i->mode == 3 && i->rm == reg &&
           (sfb_insn_writes_rm(i) || (one_byte && (op == 0x89 || (op & 0xfc) == 0x80)));
}

bool sfb_insn_only_computes(const struct sfb_insn *i)
{
    enum { SP = 4, BP = 5 };

    return !is_of_control_or_stack(i) && !writes(i, SP) && !writes(i, BP);
}
