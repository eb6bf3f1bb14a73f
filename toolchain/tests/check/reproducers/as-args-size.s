# fault: a function with DW_CFA_GNU_args_size is left out, though SFrame has no need of it
# codes: SF0505
# known: SF0516 when LEFT_OUT
 .text
 .globl f, g
f: .cfi_startproc
 nop
 .cfi_escape 0x2e,0x10
 nop
 ret
 .cfi_endproc
 .size f, . - f
g: .cfi_startproc
 ret
 .cfi_endproc
