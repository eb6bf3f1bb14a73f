/*
 * Entry points of the functions whose hooks need their caller. Each jumps to its C function and passes the caller's pc
 * (the return address), and sp and fp as they are after the call: hooks.h.
 */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.text

.macro entry name, target, pc, sp, fp
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	_CET_ENDBR
	movq	(%rsp), \pc
	leaq	8(%rsp), \sp
	movq	%rbp, \fp
	jmp	\target
	.cfi_endproc
	.size	\name, . - \name
.endm

/* Named by the number of arguments of the C function itself. */
.macro entry1 name, target
	entry	\name, \target, %rsi, %rdx, %rcx
.endm
.macro entry2 name, target
	entry	\name, \target, %rdx, %rcx, %r8
.endm
.macro entry3 name, target
	entry	\name, \target, %rcx, %r8, %r9
.endm

	entry1	malloc, sfb_heap_malloc
	entry2	calloc, sfb_heap_calloc
	entry2	realloc, sfb_heap_realloc
	entry3	reallocarray, sfb_heap_reallocarray
	entry3	posix_memalign, sfb_heap_posix_memalign
	entry2	aligned_alloc, sfb_heap_aligned_alloc
	entry2	memalign, sfb_heap_memalign
	entry1	valloc, sfb_heap_valloc
	entry1	pvalloc, sfb_heap_pvalloc
	entry1	strdup, sfb_heap_strdup
	entry2	strndup, sfb_heap_strndup

	entry1	_Znwm, sfb_heap_new
	entry2	_ZnwmRKSt9nothrow_t, sfb_heap_new_nothrow
	entry2	_ZnwmSt11align_val_t, sfb_heap_new_aligned
	entry3	_ZnwmSt11align_val_tRKSt9nothrow_t, sfb_heap_new_aligned_nothrow
	entry1	_Znam, sfb_heap_new_array
	entry2	_ZnamRKSt9nothrow_t, sfb_heap_new_array_nothrow
	entry2	_ZnamSt11align_val_t, sfb_heap_new_array_aligned
	entry3	_ZnamSt11align_val_tRKSt9nothrow_t, sfb_heap_new_array_aligned_nothrow

/* sfb_heap_call_new(next, a, b, c) */
	.globl	sfb_heap_call_new
	.hidden	sfb_heap_call_new
	.hidden	sfb_heap_unwound
	.type	sfb_heap_call_new, @function
	.p2align 4
sfb_heap_call_new:
	.cfi_startproc
	.cfi_personality 0x1b, sfb_heap_unwound
	_CET_ENDBR
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	call	*%rax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	sfb_heap_call_new, . - sfb_heap_call_new

/* Six arguments, or a variable number, take all argument registers: the three words are passed on the stack. */
.macro entry6 name, target
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	_CET_ENDBR
	movq	(%rsp), %rax
	leaq	8(%rsp), %r10
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	call	\target
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

	entry6	mmap, sfb_heap_mmap
	entry6	mmap64, sfb_heap_mmap
	entry6	mremap, sfb_heap_mremap

	.section .note.GNU-stack,"",@progbits
