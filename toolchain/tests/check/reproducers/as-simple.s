# fault: `.cfi_startproc simple`: nothing says where the return address is, and nothing holds at first
# codes: SF0301 SF0502 SF0509
# known: SF0301 SF0502 SF0509 when SIMPLE
 .text
 .globl f
f: .cfi_startproc simple
 nop
 .cfi_def_cfa rsp, 8
 nop
 ret
 .cfi_endproc
