# fault: `--gc-sections` drops the section
# link: -shared --gc-sections
# check: --require
 .text
 .globl f
f: .cfi_startproc
 nop
 ret
 .cfi_endproc
