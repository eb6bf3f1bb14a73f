# fault: `.plt.got` is described with sp+16, where an entry has sp+8; or not at all
# codes: SF0313 SF0407 SF0501
# known: SF0313 in .plt.got
# known: SF0501 in .plt.got sframe "CFA = sp+16," cfi "CFA = sp+8,"
# known: SF0808 SF0809 in .plt.got sframe "CFA = sp+16,"
# link: -shared -z lazy
 .text
 .globl f
f: .cfi_startproc
 mov other@GOTPCREL(%rip), %rax
 .cfi_def_cfa_offset 8
 call other@PLT
 ret
 .cfi_endproc
