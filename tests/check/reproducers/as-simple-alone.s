# fault: `.cfi_startproc simple` without directives
 .text
 .globl f
f: .cfi_startproc simple
 nop
 ret
 .cfi_endproc
