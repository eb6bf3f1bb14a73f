/* What of a CFI program assemblers are known to stumble over. */
#ifndef TOOLCHAIN_CHECK_CFI_MARKS_H
#define TOOLCHAIN_CHECK_CFI_MARKS_H

#include <stdint.h>

#include <sfb/eh_frame.h>

enum cfi_mark {
    CFI_ARGS_SIZE = 1 << 0,     /* DW_CFA_GNU_args_size */
    CFI_NESTED = 1 << 1,        /* a state is remembered while another one is */
    CFI_REMEMBER_LATE = 1 << 2, /* a state is remembered at the pc of another directive */
    CFI_NO_ADVANCE =
        1 << 3, /* two definitions of the CFA at one pc: an advance of no bytes is between them */
    CFI_OTHER_CFA = 1 << 4, /* the CFA counts from a register that is not sp, nor fp */
    CFI_RA_OFFSET = 1 << 5, /* the return address is somewhere, in a register, or undefined */
    CFI_RA_REGISTER = 1 << 6,
    CFI_RA_UNDEFINED = 1 << 7,
    CFI_FP_SAME = 1 << 8,   /* the frame pointer is unchanged */
    CFI_FP_ALONE = 1 << 9,  /* the frame pointer is saved, and the return address is not */
    CFI_PAST_END = 1 << 10, /* a directive behind the last byte of the function */
    CFI_SIMPLE = 1 << 11,   /* the CIE says nothing: .cfi_startproc simple */
    CFI_EXPRESSION = 1 << 12
};

/*
 * The marks of an FDE and its CIE, enum cfi_mark; 0 behind an instruction that has operands of unknown size.
 *
 * @param section  its bytes; the offsets of fde lie in it
 */
unsigned cfi_marks(const uint8_t *section, const struct sfb_cfi_fde *fde, uint8_t abi);

#endif
