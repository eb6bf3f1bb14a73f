# fault: `--gc-sections` drops the section
# codes: SF0601
# link: -shared --gc-sections
# check: --require
 .text
 .globl f
f: .cfi_startproc
 nop
 ret
 .cfi_endproc
