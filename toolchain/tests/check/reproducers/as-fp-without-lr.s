# fault: a frame that saves fp and not lr: the second word is read as the return address
# codes: SF0509
# known: SF0509 when FP_ALONE
# known: SF0121 when OBJECT
# known: SF0516 when LEFT_OUT
# machine: aarch64
 .text
 .globl f
f: .cfi_startproc
 stp x29, xzr, [sp, -16]!
 .cfi_def_cfa_offset 16
 .cfi_offset 29, -16
 nop
 ldp x29, xzr, [sp], 16
 .cfi_restore 29
 .cfi_def_cfa_offset 0
 ret
 .cfi_endproc
