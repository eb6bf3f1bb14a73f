# fault: `.cfi_same_value` of fp is ignored: the row says that it is saved
# codes: SF0503
# known: SF0503 when FP_SAME sframe "*FP at" cfi "*FP unchanged"
 .text
 .globl f
f: .cfi_startproc
 push %rbp
 .cfi_def_cfa_offset 16
 .cfi_offset rbp, -16
 nop
 .cfi_same_value rbp
 nop
 pop %rbp
 .cfi_def_cfa_offset 8
 ret
 .cfi_endproc
