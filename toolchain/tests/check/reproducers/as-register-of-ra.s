# fault: `.cfi_register` of the return address is ignored
# codes: SF0307 SF0509
 .text
 .globl f
f: .cfi_startproc
 pop %rcx
 .cfi_def_cfa_offset 0
 .cfi_register rip, rcx
 nop
 jmp *%rcx
 .cfi_endproc
