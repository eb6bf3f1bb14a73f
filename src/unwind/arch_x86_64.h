/* x86-64 Linux, as far as the walk inlines it; see arch.h. */
#ifndef SFB_UNWIND_ARCH_X86_64_H
#define SFB_UNWIND_ARCH_X86_64_H

#include "sfb/rule.h"
#include "sfb/section.h"

/* psABI, "DWARF Register Number Mapping" */
enum { SFB_ARCH_FP = 6, SFB_ARCH_SP = 7, SFB_ARCH_PC = 16, SFB_ARCH_RA = SFB_ARCH_PC };

enum {
    SFB_ARCH_ABI = SFB_ABI_AMD64_LE,
    SFB_ARCH_LR = false,
    SFB_ARCH_FRAME_RECORDS = false, /* rbp is a register like others in most code */
    SFB_ARCH_ENTRY_SIZE = 64,
    SFB_ARCH_PC_SHIFT = 0
};

#define SFB_ARCH_CODE_MASK (~(uint64_t)0)
#define SFB_ARCH_DATA_MASK (~(uint64_t)0)

#define SFB_ARCH_LIBUNWIND "libunwind-x86_64.so.8"

/* The return address is at CFA - 8, always; fp, where it is stored, at CFA - 8 * slot. */
static inline bool sfb_arch_pack(const struct sfb_rule *rule, uint64_t *slot)
{
    int32_t fp = rule->fp_where == SFB_WHERE_CFA ? rule->fp_offset : 0;

    if (rule->ra_where != SFB_WHERE_CFA || rule->ra_offset != -8 || fp > 0 || fp % 8 ||
        fp / 8 < -SFB_ARCH_SLOT_MAX)
        return false;
    *slot = (uint64_t)(-fp / 8);
    return true;
}

static inline void sfb_arch_unpack(struct sfb_rule *rule, uint64_t slot)
{
    rule->ra_where = SFB_WHERE_CFA;
    rule->ra_offset = -8;
    rule->fp_offset = -(int32_t)slot * 8;
}

#endif
