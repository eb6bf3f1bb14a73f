# fault: an entry for a function of no bytes
 .text
 .globl f
f: .cfi_startproc
 .cfi_endproc
 nop
