/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * Rule: how to find the caller of a frame, whatever table it came from.
 *
 * The seam of the library. Sources produce rules: from a row of .sframe or .eh_frame, from a code
 * pattern, in a test from a fake. The step executes a rule and knows no table.
 */
#ifndef SFB_RULE_H
#define SFB_RULE_H

#include <stdint.h>

/* Base of the CFA. */
enum sfb_base {
    SFB_BASE_SP = 0,
    SFB_BASE_FP = 1,
    SFB_BASE_REG = 2 /* the register cfa_reg; few frames know its value */
};

/* Where the caller's value of a register is. */
enum sfb_where {
    SFB_WHERE_UNSAVED = 0, /* fp unchanged, RA in the link register, sp is the CFA */
    SFB_WHERE_CFA = 1,     /* in the word at CFA + offset */
    SFB_WHERE_IS_CFA = 2,  /* it is CFA + offset */
    SFB_WHERE_AT_REG = 3,  /* in the word at the value of a register + offset */
    SFB_WHERE_IS_REG = 4   /* it is the value of a register + offset */
};

enum sfb_rule_flags {
    SFB_RULE_OUTERMOST = 0x01,    /* there is no caller; every other member is meaningless */
    SFB_RULE_RA_SIGNED = 0x02,    /* AArch64: the return address carries authentication bits ... */
    SFB_RULE_RA_KEY_B = 0x04,     /* ... made with key B (else A); set for the whole function */
    SFB_RULE_CFA_DEREF = 0x08,    /* the CFA is the word at base + cfa_offset, + cfa_add */
    SFB_RULE_SIGNAL = 0x10,       /* a signal frame: its caller was interrupted */
    SFB_RULE_ANY_REGISTER = 0x20, /* more than an SFrame row of fixed offsets can state */
    SFB_RULE_EH_RETURN = 0x40     /* of .eh_frame: the function may return to another frame */
};

/*
 * Where the caller's value of a register is saved. The register is a DWARF number. (Packed: a rule is
 * 32 bytes, and alternate stacks are small.)
 */
struct __attribute__((packed, aligned(2))) sfb_saved {
    int32_t offset;
    uint8_t where; /* enum sfb_where */
    uint8_t reg;
};

/* All zero: CFA = sp, RA in the link register. No padding: rules can be compared as bytes. */
struct sfb_rule {
    uint8_t cfa_base; /* enum sfb_base */
    uint8_t flags;    /* enum sfb_rule_flags */
    uint8_t cfa_reg;
    uint8_t zero;
    int32_t cfa_offset;
    int32_t cfa_add;
    struct sfb_saved ra, fp;
    struct sfb_saved sp; /* stated by few rows of .eh_frame */
    uint8_t zeros[2];
};

#endif
