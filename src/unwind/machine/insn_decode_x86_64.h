/* Decodes an instruction of x86-64: its length and its parts. */
#ifndef SFB_UNWIND_MACHINE_INSN_DECODE_X86_64_H
#define SFB_UNWIND_MACHINE_INSN_DECODE_X86_64_H

#include <stdbool.h>
#include <stdint.h>

enum { SFB_INSN_LENGTH_MAX = 15 };

/* Opcode map: of one-byte opcodes, or by the escape bytes. */
enum sfb_insn_map { SFB_INSN_ONE_BYTE, SFB_INSN_0F, SFB_INSN_0F38, SFB_INSN_0F3A, SFB_INSN_NO_MAP };

struct sfb_insn {
    uint8_t length;
    uint8_t map; /* enum sfb_insn_map */
    uint8_t opcode;
    uint8_t mode;    /* of the modrm byte: 3: rm is a register. Without modrm: 3 */
    uint8_t reg, rm; /* registers, 0 to 15; rm: of the modrm byte, or the base of an address */
    uint8_t also;    /* VEX, EVEX: the third register; else 0 */
    bool has_modrm;
    bool has_index; /* the address has an index, or lacks a base */
    bool by_vector; /* VEX, EVEX */
    bool small;     /* the operand has 16 bits */
    int32_t displacement, immediate;
};

/*
 * @param code   bytes from the instruction on
 * @param size   readable bytes at code
 * @return whether it is a known instruction, and all of it is readable
 */
bool sfb_insn_decode(struct sfb_insn *out, const uint8_t *code, unsigned size);

/* For instructions that are neither moves nor of the stack. They tell whether the instruction writes the register in modrm's
 * reg, or the operand in its rm: a register or memory. */
bool sfb_insn_writes_reg(const struct sfb_insn *i);
bool sfb_insn_writes_rm(const struct sfb_insn *i);

/* Whether it is neither a jump or call nor of the stack, a trap or a system call, and writes neither sp nor fp. */
bool sfb_insn_only_computes(const struct sfb_insn *i);

#endif
