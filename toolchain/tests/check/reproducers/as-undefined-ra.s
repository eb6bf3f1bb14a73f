# fault: `.cfi_undefined` of the return address is ignored: the row says CFA-8
# codes: SF0509
# known: SF0509 when RA_UNDEFINED
 .text
 .globl f
f: .cfi_startproc
 .cfi_undefined rip
 nop
 ret
 .cfi_endproc
