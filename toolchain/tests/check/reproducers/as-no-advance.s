# fault: two rows at one byte, after an advance of no bytes
# codes: SF0303
# known: SF0303 when NO_ADVANCE
 .text
 .globl f
f: .cfi_startproc
 nop
 .cfi_def_cfa_offset 16
 .skip zero
 .cfi_def_cfa_offset 24
 nop
 ret
 .cfi_endproc
 .set zero, 0
