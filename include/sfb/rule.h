/**
 * The rule: how to find the caller of a frame, whatever table said so.
 *
 * It is the seam of the library. Sources (an SFrame row, a fake in a test, tomorrow a row compiled
 * from .eh_frame) produce it; sfb_step() executes it and knows no table. It is a value of 16
 * bytes, so that it can be cached and precompiled.
 */
#ifndef SFB_RULE_H
#define SFB_RULE_H

#include <stdint.h>

/* The register that the CFA is counted from. */
enum sfb_base { SFB_BASE_SP = 0, SFB_BASE_FP = 1 };

/* Where the caller's value of a register is. */
enum sfb_where {
    SFB_WHERE_SAME = 0, /* still in its register: fp untouched, or RA in the link register */
    SFB_WHERE_CFA = 1   /* in the word at CFA + offset */
};

enum sfb_rule_flags {
    SFB_RULE_OUTERMOST = 0x01, /* there is no caller; every other member is meaningless */
    SFB_RULE_RA_SIGNED = 0x02, /* AArch64: the return address carries authentication bits ... */
    SFB_RULE_RA_KEY_B = 0x04   /* ... made with key B (else A); set for the whole function */
};

struct sfb_rule {
    uint8_t cfa_base; /* enum sfb_base */
    uint8_t ra_where; /* enum sfb_where */
    uint8_t fp_where; /* enum sfb_where */
    uint8_t flags;    /* enum sfb_rule_flags */
    int32_t cfa_offset;
    int32_t ra_offset;
    int32_t fp_offset;
};

#endif
