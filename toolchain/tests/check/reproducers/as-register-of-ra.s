# fault: `.cfi_register` of the return address is ignored
# codes: SF0307 SF0509
# known: SF0307 SF0509 when RA_REGISTER
# known: SF0121 when OBJECT
 .text
 .globl f
f: .cfi_startproc
 pop %rcx
 .cfi_def_cfa_offset 0
 .cfi_register rip, rcx
 nop
 jmp *%rcx
 .cfi_endproc
