# fault: PT_GNU_SFRAME is as large as the inputs together
# codes: SF0138
# link: -shared twice
 .text
f: .cfi_startproc
 nop
 ret
 .cfi_endproc
