/* AArch64 Linux, as far as the walk inlines it; see arch.h. */
#ifndef SFB_UNWIND_ARCH_AARCH64_H
#define SFB_UNWIND_ARCH_AARCH64_H

#include "sfb/rule.h"
#include "sfb/section.h"

/* AADWARF64, "DWARF register names" */
enum {
    SFB_ARCH_FP = 29,
    SFB_ARCH_RA =
        30, /* the link register: CFI says where the caller's pc is by what it says of it */
    SFB_ARCH_SP = 31,
    SFB_ARCH_PC = 32
};

enum {
    SFB_ARCH_ABI = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? SFB_ABI_AARCH64_BE : SFB_ABI_AARCH64_LE,
    SFB_ARCH_LR = true,
    SFB_ARCH_FRAME_RECORDS = true, /* AAPCS64, "The Frame Pointer": x29 heads a chain of them */
    SFB_ARCH_ENTRY_SIZE = 80,
    SFB_ARCH_PC_SHIFT = 2
};

/*
 * User space lies below 2^48. Pointer authentication puts its code above that, bit 55 aside, and so
 * do tags in the top byte. A mask rather than `xpaclri`: it is one cycle instead of several, holds
 * for addresses that another machine or a forged stack made, and does the same on a core that takes
 * the instruction for a hint. (It would be wrong for code mapped above 2^48, which Linux does for
 * those who ask for such an address only, on cores with 52-bit addresses.)
 */
#define SFB_ARCH_CODE_MASK (((uint64_t)1 << 48) - 1)
#define SFB_ARCH_DATA_MASK (((uint64_t)1 << 56) - 1)

#define SFB_ARCH_LIBUNWIND "libunwind-aarch64.so.8"

/*
 * Functions store x29 and x30 side by side at the low end of their frames, so the place is counted
 * in words from the register that the CFA is counted from, and fits even for large frames. The last
 * one says that the return address is still in the link register.
 */
static inline bool sfb_arch_pack(const struct sfb_rule *rule, uint64_t *slot)
{
    int64_t ra = (int64_t)rule->cfa_offset + rule->ra_offset;

    *slot = SFB_ARCH_SLOT_MAX;
    if (rule->ra_where == SFB_WHERE_SAME)
        return rule->fp_where == SFB_WHERE_SAME;
    *slot = (uint64_t)ra / 8;
    return ra >= 0 && ra % 8 == 0 && *slot < SFB_ARCH_SLOT_MAX &&
           (rule->fp_where == SFB_WHERE_SAME || rule->fp_offset == rule->ra_offset - 8);
}

static inline void sfb_arch_unpack(struct sfb_rule *rule, uint64_t slot)
{
    rule->ra_where = slot == SFB_ARCH_SLOT_MAX ? SFB_WHERE_SAME : SFB_WHERE_CFA;
    rule->ra_offset = (int32_t)slot * 8 - rule->cfa_offset;
    rule->fp_offset = rule->ra_offset - 8;
}

#endif
