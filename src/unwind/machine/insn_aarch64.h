/* AArch64's instructions, as far as patterns need them. */
#ifndef SFB_UNWIND_MACHINE_INSN_AARCH64_H
#define SFB_UNWIND_MACHINE_INSN_AARCH64_H

#include "base/memory.h"

/* Instructions are little-endian, whatever the data's byte order: Arm ARM, "Instruction endianness". */
static inline bool sfb_insn_read(struct sfb_memory *code, uint64_t address, uint32_t *out)
{
    uint8_t b[4];

    if ((address & 3) || !sfb_memory_copy(code, address, b, sizeof b))
        return false;
    *out = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

static inline bool sfb_insn_is_bl(uint32_t insn)
{
    return insn >> 26 == 0x25;
}

/* blr x0 to x30, and blraa, blrab, blraaz, blrabz, which authenticate their target */
static inline bool sfb_insn_is_blr(uint32_t insn)
{
    return (insn & 0xfffffc1f) == 0xd63f0000 || (insn & 0xfefff800) == 0xd63f0800;
}

/* Any branch: conditional or not, direct or by register. */
static inline bool sfb_insn_is_branch(uint32_t insn)
{
    return (insn & 0x7c000000) == 0x14000000 || (insn & 0xff000000) == 0x54000000 ||
           (insn & 0x7c000000) == 0x34000000 || (insn & 0xfe000000) == 0xd6000000;
}

#endif
