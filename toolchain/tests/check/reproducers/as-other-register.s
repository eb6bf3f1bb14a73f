# fault: a CFA in a register other than sp and fp
# codes: SF0307 SF0509
# known: SF0307 SF0509 when OTHER_CFA
# known: SF0121 when OBJECT
 .text
 .globl f
f: .cfi_startproc
 lea 8(%rsp), %r10
 .cfi_def_cfa r10, 0
 nop
 ret
 .cfi_endproc
