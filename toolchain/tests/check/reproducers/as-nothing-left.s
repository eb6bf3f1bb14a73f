# fault: a section without functions, where all of them are left out
# codes: SF0121
# known: SF0121 when OBJECT
# known: SF0516 when LEFT_OUT
 .text
 .globl f
f: .cfi_startproc
 nop
 .cfi_escape 0x0f,0x03,0x77,0x08,0x06
 ret
 .cfi_endproc
