/*
 * A place to jump back to, as by setjmp() and longjmp(); see attempt.h. libc's would be two more
 * imports, and have room for a signal mask: a structure larger than this code.
 *
 * struct sfb_crash_mark: callee-saved registers (x19 to x30, sp, d8 to d15). x30 is the pc behind the
 * call. `hint 34` is `bti c`.
 */
	.text
	.globl	sfb_crash_mark_set
	.hidden	sfb_crash_mark_set
	.type	sfb_crash_mark_set, %function
	.p2align 4
sfb_crash_mark_set:
	.cfi_startproc
	hint	34
	stp	x19, x20, [x0]
	stp	x21, x22, [x0, 16]
	stp	x23, x24, [x0, 32]
	stp	x25, x26, [x0, 48]
	stp	x27, x28, [x0, 64]
	stp	x29, x30, [x0, 80]
	mov	x1, sp
	str	x1, [x0, 96]
	stp	d8, d9, [x0, 104]
	stp	d10, d11, [x0, 120]
	stp	d12, d13, [x0, 136]
	stp	d14, d15, [x0, 152]
	mov	w0, 0
	ret
	.cfi_endproc
	.size	sfb_crash_mark_set, . - sfb_crash_mark_set

	.globl	sfb_crash_mark_go
	.hidden	sfb_crash_mark_go
	.type	sfb_crash_mark_go, %function
	.p2align 4
sfb_crash_mark_go:
	.cfi_startproc
	hint	34
	ldp	x19, x20, [x0]
	ldp	x21, x22, [x0, 16]
	ldp	x23, x24, [x0, 32]
	ldp	x25, x26, [x0, 48]
	ldp	x27, x28, [x0, 64]
	ldp	x29, x30, [x0, 80]
	ldr	x1, [x0, 96]
	ldp	d8, d9, [x0, 104]
	ldp	d10, d11, [x0, 120]
	ldp	d12, d13, [x0, 136]
	ldp	d14, d15, [x0, 152]
	mov	sp, x1
	mov	w0, 1
	ret
	.cfi_endproc
	.size	sfb_crash_mark_go, . - sfb_crash_mark_go

	.section .note.GNU-stack, "", %progbits
