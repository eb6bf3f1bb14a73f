# fault: `.cfi_offset` of the return address is ignored: the row says CFA-8
# codes: SF0509
# known: SF0509 when RA_OFFSET
 .text
 .globl f
f: .cfi_startproc
 sub $8, %rsp
 .cfi_def_cfa_offset 16
 .cfi_offset rip, -16
 nop
 add $8, %rsp
 ret
 .cfi_endproc
