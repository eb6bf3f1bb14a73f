# fault: nested `.cfi_remember_state`: the second one restored is not the first one remembered
# codes: SF0501
# known: SF0501 when NESTED
 .text
 .globl f
f: .cfi_startproc
 nop
 .cfi_remember_state
 push %rbx
 .cfi_adjust_cfa_offset 8
 nop
 .cfi_remember_state
 push %rbx
 .cfi_adjust_cfa_offset 8
 nop
 .cfi_restore_state
 nop
 .cfi_restore_state
 ret
 .cfi_endproc
