# fault: `.plt.got` is described with sp+16, where an entry has sp+8; or not at all
# codes: SF0313 SF0407 SF0501
# link: -shared -z lazy
 .text
 .globl f
f: .cfi_startproc
 mov other@GOTPCREL(%rip), %rax
 .cfi_def_cfa_offset 8
 call other@PLT
 ret
 .cfi_endproc
