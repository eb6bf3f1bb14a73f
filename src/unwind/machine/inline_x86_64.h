/* x86-64 Linux, as far as the walk inlines it; see arch.h. */
#ifndef SFB_UNWIND_MACHINE_INLINE_X86_64_H
#define SFB_UNWIND_MACHINE_INLINE_X86_64_H

#include "base/memory.h"
#include "sfb/rule.h"
#include "sfb/section.h"
#include "sfb/walk.h"

/* psABI, "DWARF Register Number Mapping" */
enum { SFB_ARCH_FP = 6, SFB_ARCH_SP = 7, SFB_ARCH_PC = 16, SFB_ARCH_RA = SFB_ARCH_PC };

enum {
    SFB_ARCH_ABI = SFB_ABI_AMD64_LE,
    SFB_ARCH_LR = false,
    SFB_ARCH_SETCONTEXT_CFI_IS_WRONG = false,
    SFB_ARCH_FRAME_RECORDS = false, /* rbp is a general register in most code */
    SFB_ARCH_SWIFT_CONTEXT = 14,    /* r14 */
    SFB_ARCH_CFI_COLUMNS = 8,       /* sfb_cfi_column(): all that are followed */
    SFB_ARCH_ENTRY_SIZE = 64,
    SFB_ARCH_PC_SHIFT = 0,
    SFB_ARCH_PC_BITS = 47 /* user space ends there, unless a program requests higher addresses */
};

#define SFB_ARCH_CODE_MASK (~(uint64_t)0)
#define SFB_ARCH_DATA_MASK (~(uint64_t)0)

#define SFB_ARCH_LIBUNWIND     "libunwind-x86_64.so.8"
#define SFB_ARCH_LIBUNWIND_CFA UNW_X86_64_CFA

static inline void sfb_arch_regs(struct sfb_regs *out, const struct sfb_context *context)
{
    *out = (struct sfb_regs){ .pc = context->reg[SFB_ARCH_PC],
                              .sp = context->reg[SFB_ARCH_SP],
                              .fp = context->reg[SFB_ARCH_FP] };
}

/*
 * A packed rule, from the lowest bit on:
 *
 *      1  the CFA counts from fp (else sp)
 *      5  words from the saved fp up to the CFA; 0: fp is not saved
 *     10  CFA offset / 8
 *      1  all else is 0, and this is the rule of code with frame pointers: CFA = fp + 16, fp stored
 *         below the return address
 *
 * The return address is always at CFA - 8. The CFA's offset is on top, one shift away, because it is
 * in the chain of dependent instructions from each frame to the next. The last bit is the sign.
 */
enum { SFB_ARCH_FP_BITS = 5, SFB_ARCH_CFA_BITS = 10 };

#define SFB_ARCH_FRAME_POINTER (1ull << (1 + SFB_ARCH_FP_BITS + SFB_ARCH_CFA_BITS))

_Static_assert(1 + SFB_ARCH_FP_BITS + SFB_ARCH_CFA_BITS + 1 + SFB_ARCH_PC_BITS == 64, "one word");

static inline bool sfb_arch_pack(const struct sfb_rule *rule, uint64_t *out)
{
    int32_t cfa = rule->cfa_offset, fp = rule->fp.where == SFB_WHERE_CFA ? rule->fp.offset : 0;

    if (rule->ra.where != SFB_WHERE_CFA || rule->ra.offset != -8 || cfa <= 0 || cfa % 8 ||
        cfa >> (3 + SFB_ARCH_CFA_BITS) || fp > 0 || fp % 8 || -fp >> (3 + SFB_ARCH_FP_BITS) ||
        (rule->fp.where == SFB_WHERE_CFA && fp == 0))
        return false;
    /* So that no word outside of the frame is read: see sfb_arch_follow(). */
    if (-fp > cfa)
        return false;
    if (rule->cfa_base == SFB_BASE_FP && cfa == 16 && fp == -16)
        *out = SFB_ARCH_FRAME_POINTER;
    else
        *out = (uint64_t)(rule->cfa_base == SFB_BASE_FP) | (uint64_t)(-fp / 8) << 1 |
               (uint64_t)(cfa / 8) << (1 + SFB_ARCH_FP_BITS);
    return true;
}

static inline void sfb_arch_unpack(struct sfb_rule *rule, uint64_t packed)
{
    bool frame_pointer = packed == SFB_ARCH_FRAME_POINTER;
    int32_t fp = (int32_t)(packed >> 1 & ((1u << SFB_ARCH_FP_BITS) - 1)) * -8;
    int32_t cfa = (int32_t)(packed >> (1 + SFB_ARCH_FP_BITS)) * 8;

    if (frame_pointer)
        fp = -16;
    *rule = (struct sfb_rule){ .cfa_base = packed & 1 || frame_pointer ? SFB_BASE_FP : SFB_BASE_SP,
                               .ra.where = SFB_WHERE_CFA,
                               .fp.where = fp ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED,
                               .cfa_offset = frame_pointer ? 16 : cfa,
                               .ra.offset = -8,
                               .fp.offset = fp };
}

/*
 * `test ? a : b` without a jump. In code without frame pointers, whether a function saves rbp is as good
 * as random, and compilers would make it a predicted branch.
 */
static inline uint64_t sfb_arch_select(uint64_t test, uint64_t a, uint64_t b)
{
    __asm__("test %1, %1\n\tcmovne %2, %0" : "+r"(b) : "r"(test), "r"(a) : "cc");
    return b;
}

/*
 * sfb_step() for a word of the rule cache, without a status. false, and nothing changed, if a check of
 * sfb_step() fails, or close to the end of the known stack. Words in [sp, hi) must be readable.
 *
 * @param word  of the rule cache: a packed rule above the bits of a pc
 */
static inline __attribute__((always_inline)) bool sfb_arch_follow(uint64_t word, uint64_t hi,
                                                                  uint64_t *pc, uint64_t *sp,
                                                                  uint64_t *fp)
{
    uint64_t base, words, cfa, slot, fp_word, ra;

    /*
     * As a branch: its prediction takes the cache's word and all of the arithmetic below out of the
     * chain of dependent instructions. One load remains in it.
     */
    if ((int64_t)word < 0) {
        base = *fp;
        if (base < *sp || base >= hi - 8 || (base & 7))
            return false;
        ra = sfb_load(base + 8);
        if (ra - 1 >= (1ull << SFB_ARCH_PC_BITS) - 1)
            return false;
        *pc = ra;
        *sp = base + 16;
        *fp = sfb_load(base);
        return true;
    }
    base = *sp;
    /* (Rare, but not marked as unlikely: that makes walks of code without frame pointers 5 % slower.) */
    if (word >> SFB_ARCH_PC_BITS & 1) {
        base = *fp;
        if (base < *sp || base >= hi || (base & 7))
            return false;
    }
    words = word >> (63 - SFB_ARCH_CFA_BITS);
    cfa = base + words * 8;
    if (cfa >= hi || words == 0)
        return false;
    ra = sfb_load(cfa - 8);
    if (ra - 1 >= (1ull << SFB_ARCH_PC_BITS) - 1)
        return false;
    slot = word >> (SFB_ARCH_PC_BITS + 1 - 3) & ((1u << SFB_ARCH_FP_BITS) - 1) << 3; /* in bytes */
    fp_word = sfb_load(cfa - slot);
    *fp = sfb_arch_select(slot, fp_word, *fp);
    *pc = ra;
    *sp = cfa;
    return true;
}

/* Tells whether sfb_arch_follow() needs fp. */
static inline bool sfb_arch_needs_fp(uint64_t word)
{
    return (int64_t)word < 0 || (word >> SFB_ARCH_PC_BITS & 1);
}

/*
 * Gives the address that sfb_arch_follow() has read.
 *
 * @param sp      of the caller that it gave
 * @param fp_read written. true: the result is the address of the saved fp; false: of the return address
 */
static inline uint64_t sfb_arch_place_read(uint64_t word, uint64_t sp, bool *fp_read)
{
    uint64_t slot = word >> (SFB_ARCH_PC_BITS + 1) & ((1u << SFB_ARCH_FP_BITS) - 1);

    if ((int64_t)word < 0)
        slot = 2;
    *fp_read = slot != 0;
    return sp - (slot ? slot : 1) * 8;
}

#endif
