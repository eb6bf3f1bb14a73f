/*
 * A place to jump back to, as by setjmp() and longjmp(); see attempt.h. libc's would be two more
 * imports, and have room for a signal mask: a structure larger than this code.
 *
 * struct sfb_crash_mark: callee-saved registers, rsp and the pc behind the call, and the shadow stack's
 * pointer; 0 without a shadow stack (`rdsspq` does nothing then).
 */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.text
	.globl	sfb_crash_mark_set
	.hidden	sfb_crash_mark_set
	.type	sfb_crash_mark_set, @function
	.p2align 4
sfb_crash_mark_set:
	.cfi_startproc
	_CET_ENDBR
	movq	%rbx, 0(%rdi)
	movq	%rbp, 8(%rdi)
	movq	%r12, 16(%rdi)
	movq	%r13, 24(%rdi)
	movq	%r14, 32(%rdi)
	movq	%r15, 40(%rdi)
	leaq	8(%rsp), %rax
	movq	%rax, 48(%rdi)
	movq	(%rsp), %rax
	movq	%rax, 56(%rdi)
	xorl	%eax, %eax
	rdsspq	%rax
	movq	%rax, 64(%rdi)
	xorl	%eax, %eax
	ret
	.cfi_endproc
	.size	sfb_crash_mark_set, . - sfb_crash_mark_set

	.globl	sfb_crash_mark_go
	.hidden	sfb_crash_mark_go
	.type	sfb_crash_mark_go, @function
	.p2align 4
sfb_crash_mark_go:
	.cfi_startproc
	_CET_ENDBR
	movq	64(%rdi), %rcx
	testq	%rcx, %rcx
	jz	3f
	xorl	%eax, %eax
	rdsspq	%rax
	subq	%rax, %rcx
	shrq	$3, %rcx
	incq	%rcx		/* and the word that sfb_crash_mark_set() would have returned by */
	movl	$255, %edx	/* incsspq takes no more at a time */
1:	cmpq	%rdx, %rcx
	jbe	2f
	incsspq	%rdx
	subq	%rdx, %rcx
	jmp	1b
2:	incsspq	%rcx
3:	movq	0(%rdi), %rbx
	movq	8(%rdi), %rbp
	movq	16(%rdi), %r12
	movq	24(%rdi), %r13
	movq	32(%rdi), %r14
	movq	40(%rdi), %r15
	movq	56(%rdi), %rdx
	movq	48(%rdi), %rsp
	movl	$1, %eax
	notrack jmp *%rdx
	.cfi_endproc
	.size	sfb_crash_mark_go, . - sfb_crash_mark_go

	.section .note.GNU-stack, "", @progbits
