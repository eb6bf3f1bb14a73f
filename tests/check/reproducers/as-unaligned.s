# fault: none, but hand-written code that pushes two bytes: the CFA is not aligned
 .text
 .globl f
f: .cfi_startproc
 pushw %bx
 .cfi_adjust_cfa_offset 2
 nop
 popw %bx
 .cfi_adjust_cfa_offset -2
 ret
 .cfi_endproc
