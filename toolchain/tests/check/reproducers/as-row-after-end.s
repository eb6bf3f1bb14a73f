# fault: a row for a directive behind the last instruction
# codes: SF0312
# known: SF0312 when PAST_END
 .text
 .globl f
f: .cfi_startproc
 nop
 .cfi_def_cfa_offset 16
 .cfi_endproc
