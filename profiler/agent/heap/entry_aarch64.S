/* See entry_x86_64.S. The return address is in x30. sp already has its value after the call. */
	.text

.macro entry name, target, pc, sp, fp
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint	#34		/* bti c */
	mov	\pc, x30
	mov	\sp, sp
	mov	\fp, x29
	b	\target
	.cfi_endproc
	.size	\name, . - \name
.endm

/* Named by the number of arguments of the C function itself. */
.macro entry1 name, target
	entry	\name, \target, x1, x2, x3
.endm
.macro entry2 name, target
	entry	\name, \target, x2, x3, x4
.endm
.macro entry3 name, target
	entry	\name, \target, x3, x4, x5
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
	.type	sfb_heap_call_new, %function
	.p2align 4
sfb_heap_call_new:
	.cfi_startproc
	.cfi_personality 0x1b, sfb_heap_unwound
	hint	#34		/* bti c */
	stp	x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	mov	x16, x0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	blr	x16
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	sfb_heap_call_new, . - sfb_heap_call_new

/* Six arguments leave registers for two of the three words; the third is passed on the stack. */
.macro entry6 name, target
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint	#34		/* bti c */
	sub	sp, sp, #32
	.cfi_adjust_cfa_offset 32
	stp	x29, x30, [sp, #16]
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	str	x29, [sp]
	mov	x6, x30
	add	x7, sp, #32
	add	x29, sp, #16
	bl	\target
	ldp	x29, x30, [sp, #16]
	add	sp, sp, #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

	entry6	mmap, sfb_heap_mmap
	entry6	mmap64, sfb_heap_mmap
	entry6	mremap, sfb_heap_mremap

	.section .note.GNU-stack,"",%progbits
