# fault: an entry for a function of no bytes
# codes: SF0206
# known: SF0206 when EMPTY
 .text
 .globl f
f: .cfi_startproc
 .cfi_endproc
 nop
