/* AArch64 Linux, as far as the walk inlines it; see arch.h. */
#ifndef SFB_UNWIND_MACHINE_INLINE_AARCH64_H
#define SFB_UNWIND_MACHINE_INLINE_AARCH64_H

#include "base/memory.h"
#include "sfb/rule.h"
#include "sfb/section.h"
#include "sfb/walk.h"

/* AADWARF64, "DWARF register names" */
enum {
    SFB_ARCH_FP = 29,
    SFB_ARCH_RA = 30, /* the link register: its CFI column states the caller's pc */
    SFB_ARCH_SP = 31,
    SFB_ARCH_PC = 32
};

enum {
    SFB_ARCH_ABI = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? SFB_ABI_AARCH64_BE : SFB_ABI_AARCH64_LE,
    SFB_ARCH_LR = true,
    SFB_ARCH_SETCONTEXT_CFI_IS_WRONG = true,
    SFB_ARCH_FRAME_RECORDS = true, /* AAPCS64, "The Frame Pointer": x29 heads a chain of them */
    SFB_ARCH_SWIFT_CONTEXT = 22,   /* x22 */
    SFB_ARCH_CFI_COLUMNS = 13,     /* sfb_cfi_column(): all that are followed */
    SFB_ARCH_ENTRY_SIZE = 80,
    SFB_ARCH_PC_SHIFT = 2,
    SFB_ARCH_PC_BITS = 48
};

/*
 * User space lies below 2^48. Pointer authentication uses the bits above that, except bit 55; tags use
 * the top byte. A mask instead of `xpaclri`: it takes one cycle instead of several. It works for
 * addresses from another machine or a forged stack, and on a core that treats the instruction as a hint.
 * (It would be wrong for code mapped above 2^48. Linux maps there only if a program requests such an
 * address, on cores with 52-bit addresses.)
 */
#define SFB_ARCH_CODE_MASK (((uint64_t)1 << 48) - 1)
#define SFB_ARCH_DATA_MASK (((uint64_t)1 << 56) - 1)

/* In struct rt_sigframe (a siginfo_t, then the ucontext_t): where x0 is. */
enum { SFB_ARCH_SIGFRAME_REGS = 128 + 176 + 8 };

#define SFB_ARCH_LIBUNWIND     "libunwind-aarch64.so.8"
#define SFB_ARCH_LIBUNWIND_CFA UNW_AARCH64_CFA

static inline void sfb_arch_regs(struct sfb_regs *out, const struct sfb_context *context)
{
    out->pc = context->reg[SFB_ARCH_PC] & SFB_ARCH_CODE_MASK;
    out->sp = context->reg[SFB_ARCH_SP] & SFB_ARCH_DATA_MASK;
    out->fp = context->reg[SFB_ARCH_FP];
    out->lr_known = context->valid >> SFB_ARCH_RA & 1;
    out->lr = out->lr_known ? context->reg[SFB_ARCH_RA] : 0;
    out->sp_stayed = false;
}

/*
 * A packed rule, from the lowest bit on:
 *
 *      1  the CFA counts from fp (else sp)
 *      1  fp is stored, in the word below the return address
 *      5  words from the CFA's base to the return address; the largest value: it is still in the link
 *         register
 *      9  CFA offset / 16
 *
 * Functions store x29 and x30 side by side at the low end of their frames, so the place is counted
 * from there and fits even for large frames.
 */
enum {
    SFB_ARCH_RA_BITS = 5,
    SFB_ARCH_RA_IN_LR = (1 << SFB_ARCH_RA_BITS) - 1,
    SFB_ARCH_CFA_BITS = 9
};

_Static_assert(2 + SFB_ARCH_RA_BITS + SFB_ARCH_CFA_BITS + SFB_ARCH_PC_BITS == 64, "one word");

static inline bool sfb_arch_pack(const struct sfb_rule *rule, uint64_t *out)
{
    int64_t cfa = rule->cfa_offset, ra = cfa + rule->ra.offset;

    if (rule->ra.where == SFB_WHERE_UNSAVED) {
        if (rule->fp.where != SFB_WHERE_UNSAVED)
            return false;
        ra = SFB_ARCH_RA_IN_LR * 8;
    } else if (ra < 0 || ra % 8 || ra / 8 >= SFB_ARCH_RA_IN_LR || ra >= cfa ||
               (rule->fp.where == SFB_WHERE_CFA &&
                (ra == 0 || rule->fp.offset != rule->ra.offset - 8))) {
        return false;
    }
    if (cfa < 0 || cfa % 16 || cfa >> (4 + SFB_ARCH_CFA_BITS))
        return false;
    *out = (uint64_t)(rule->cfa_base == SFB_BASE_FP) |
           (uint64_t)(rule->fp.where == SFB_WHERE_CFA) << 1 | (uint64_t)(ra / 8) << 2 |
           (uint64_t)(cfa / 16) << (2 + SFB_ARCH_RA_BITS);
    return true;
}

static inline void sfb_arch_unpack(struct sfb_rule *rule, uint64_t packed)
{
    unsigned ra = packed >> 2 & SFB_ARCH_RA_IN_LR;

    *rule =
        (struct sfb_rule){ .cfa_base = packed & 1 ? SFB_BASE_FP : SFB_BASE_SP,
                           .ra.where = ra == SFB_ARCH_RA_IN_LR ? SFB_WHERE_UNSAVED : SFB_WHERE_CFA,
                           .fp.where = packed & 2 ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED,
                           .cfa_offset = (int32_t)(packed >> (2 + SFB_ARCH_RA_BITS)) * 16 };
    if (rule->ra.where == SFB_WHERE_CFA)
        rule->ra.offset = (int32_t)ra * 8 - rule->cfa_offset;
    if (rule->fp.where == SFB_WHERE_CFA)
        rule->fp.offset = rule->ra.offset - 8;
}

/*
 * sfb_step() for a word of the rule cache, without a status. false, and nothing changed, if a check of
 * sfb_step() fails, or the return address is in lr. Stack words in [sp, hi) must be readable.
 *
 * @param word  of the rule cache: a packed rule above the bits of a pc
 */
static inline __attribute__((always_inline)) bool sfb_arch_follow(uint64_t word, uint64_t hi,
                                                                  uint64_t *pc, uint64_t *sp,
                                                                  uint64_t *fp)
{
    uint64_t packed = word >> SFB_ARCH_PC_BITS;
    uint64_t base = packed & 1 ? *fp & SFB_ARCH_DATA_MASK : *sp;
    uint64_t slot = base + (packed >> 2 & SFB_ARCH_RA_IN_LR) * 8;
    uint64_t cfa = base + (packed >> (2 + SFB_ARCH_RA_BITS)) * 16;
    uint64_t ra;

    /* One comparison: above sp, not above hi, no overflow. An outermost frame has CFA = sp. */
    if (base < *sp || cfa - *sp - 1 >= hi - *sp || (cfa & 7) ||
        (packed >> 2 & SFB_ARCH_RA_IN_LR) == SFB_ARCH_RA_IN_LR)
        return false;
    ra = sfb_load(slot) & SFB_ARCH_CODE_MASK;
    if (ra == 0)
        return false;
    if (packed & 2)
        *fp = sfb_load(slot - 8);
    *pc = ra;
    *sp = cfa;
    return true;
}

/* Tells whether sfb_arch_follow() needs fp. */
static inline bool sfb_arch_needs_fp(uint64_t word)
{
    return word >> SFB_ARCH_PC_BITS & 1;
}

/*
 * Gives the address that sfb_arch_follow() has read.
 *
 * @param sp      of the caller that it gave
 * @param fp_read written. true: the result is the address of the saved fp, right below the return
 *                address; false: of the return address
 */
static inline uint64_t sfb_arch_place_read(uint64_t word, uint64_t sp, bool *fp_read)
{
    uint64_t packed = word >> SFB_ARCH_PC_BITS;
    uint64_t base = sp - (packed >> (2 + SFB_ARCH_RA_BITS)) * 16;

    *fp_read = packed >> 1 & 1;
    return base + (packed >> 2 & SFB_ARCH_RA_IN_LR) * 8 - *fp_read * 8u;
}

#endif
