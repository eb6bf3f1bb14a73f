# fault: a row for a directive behind the last instruction
# codes: SF0312
 .text
 .globl f
f: .cfi_startproc
 nop
 .cfi_def_cfa_offset 16
 .cfi_endproc
