/*
 * A function of 40,000 rows that calls itself from behind them, and then somebody else:
 *
 *     int many_rows(int depth, int (*function)(void));
 */
#if defined(__x86_64__)
	.text
	.globl	many_rows
	.type	many_rows, @function
many_rows:
	.cfi_startproc
	.rept 20000
	push	%rbx
	.cfi_adjust_cfa_offset 8
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.endr
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	dec	%edi
	jz	1f
	call	many_rows
	jmp	2f
1:	call	*%rsi
2:	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	many_rows, . - many_rows
#elif defined(__aarch64__)
	.text
	.globl	many_rows
	.type	many_rows, %function
many_rows:
	.cfi_startproc
	.rept 20000
	sub	sp, sp, #16
	.cfi_adjust_cfa_offset 16
	add	sp, sp, #16
	.cfi_adjust_cfa_offset -16
	.endr
	str	x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_offset x30, -16
	subs	w0, w0, #1
	b.eq	1f
	bl	many_rows
	b	2f
1:	blr	x1
2:	ldr	x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	many_rows, . - many_rows
#endif
	.section .note.GNU-stack, "", %progbits
