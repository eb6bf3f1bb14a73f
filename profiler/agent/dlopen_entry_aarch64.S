/* See dlopen_entry.h: gets the target, and jumps to it with the caller's return address. */
	.text
	.globl	dlopen
	.type	dlopen, %function
	.p2align 4
dlopen:
	.cfi_startproc
	hint	#34		/* bti c */
	stp	x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	bl	sfb_dlopen_choose
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	br	x16
	.cfi_endproc
	.size	dlopen, . - dlopen

	.section .note.GNU-stack,"",%progbits
