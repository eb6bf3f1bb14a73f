/* See syscall_entry.h: jumps on at once, except for the few calls checked there. */
#include <asm/unistd.h>
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.text
	.globl	syscall
	.type	syscall, @function
	.p2align 4
syscall:
	.cfi_startproc
	_CET_ENDBR
	cmpq	$__NR_seccomp, %rdi
	je	1f
	cmpq	$__NR_execve, %rdi
	je	1f
	cmpq	$__NR_execveat, %rdi
	je	1f
	movq	sfb_syscall_real(%rip), %rax
	testq	%rax, %rax
	je	1f
	jmp	*%rax
1:	jmp	sfb_syscall_looked_at
	.cfi_endproc
	.size	syscall, . - syscall

	.section .note.GNU-stack,"",@progbits
