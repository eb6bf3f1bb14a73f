/* See thread_entry.h. The program's own routine runs almost from the thread's first instruction. */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.text
	.globl	sfb_thread_entry
	.hidden	sfb_thread_entry
	.type	sfb_thread_entry, @function
	.p2align 4
sfb_thread_entry:
	.cfi_startproc
	_CET_ENDBR
	subq	$24, %rsp
	.cfi_adjust_cfa_offset 24
	leaq	8(%rsp), %rsi
	call	sfb_thread_entry_begin
	movq	8(%rsp), %rdi
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	jmp	*%rax
	.cfi_endproc
	.size	sfb_thread_entry, . - sfb_thread_entry

	.section .note.GNU-stack,"",@progbits
