/* How long an instruction of x86-64 is, and its parts. */
#ifndef SFB_UNWIND_MACHINE_INSN_DECODE_X86_64_H
#define SFB_UNWIND_MACHINE_INSN_DECODE_X86_64_H

#include <stdbool.h>
#include <stdint.h>

enum { SFB_INSN_LENGTH_MAX = 15 };

/* Which table its opcode is of: the one of one byte, or by the bytes in front of it. */
enum sfb_insn_map { SFB_INSN_ONE_BYTE, SFB_INSN_0F, SFB_INSN_0F38, SFB_INSN_0F3A, SFB_INSN_NO_MAP };

struct sfb_insn {
    uint8_t length;
    uint8_t map; /* enum sfb_insn_map */
    uint8_t opcode;
    uint8_t mode;    /* of the modrm byte: 3: rm is a register. Without modrm: 3 */
    uint8_t reg, rm; /* registers, 0 to 15; rm: that of the modrm byte, or the base of an address */
    uint8_t also;    /* VEX, EVEX: the third register; else 0 */
    bool has_modrm;
    bool has_index; /* the address has an index, or no base */
    bool by_vector; /* VEX, EVEX */
    bool small;     /* the operand has 16 bits */
    int32_t displacement, immediate;
};

/*
 * @param code   bytes from the instruction on
 * @param size   of them that can be read
 * @return whether it is an instruction that this knows, and all of it can be read
 */
bool sfb_insn_decode(struct sfb_insn *out, const uint8_t *code, unsigned size);

/* Whether an instruction that is neither a move nor of the stack writes the register that modrm's reg names, or what its rm
 * names: that register, or memory. */
bool sfb_insn_writes_reg(const struct sfb_insn *i);
bool sfb_insn_writes_rm(const struct sfb_insn *i);

#endif
