# fault: `.cfi_startproc simple` without directives
# codes: SF0225
# known: SF0121 when OBJECT
 .text
 .globl f
f: .cfi_startproc simple
 nop
 ret
 .cfi_endproc
