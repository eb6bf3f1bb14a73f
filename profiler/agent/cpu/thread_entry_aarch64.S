/* See thread_entry.h. The program's own routine runs almost from the thread's first instruction. */
	.text
	.globl	sfb_thread_entry
	.hidden	sfb_thread_entry
	.type	sfb_thread_entry, %function
	.p2align 4
sfb_thread_entry:
	.cfi_startproc
	hint	#34		/* bti c */
	stp	x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	add	x1, sp, #16
	bl	sfb_thread_entry_begin
	mov	x16, x0
	ldr	x0, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	br	x16
	.cfi_endproc
	.size	sfb_thread_entry, . - sfb_thread_entry

	.section .note.GNU-stack,"",%progbits
