# fault: `.cfi_startproc simple` without directives
# codes: SF0225
 .text
 .globl f
f: .cfi_startproc simple
 nop
 ret
 .cfi_endproc
