# fault: `.cfi_remember_state` at the pc of another directive remembers what was before it
# codes: SF0501
# known: SF0501 when REMEMBER_LATE
 .text
 .globl f
f: .cfi_startproc
 push %rbx
 .cfi_adjust_cfa_offset 8
 .cfi_remember_state
 pop %rbx
 .cfi_adjust_cfa_offset -8
 ret
 .cfi_restore_state
 nop
 ret
 .cfi_endproc
