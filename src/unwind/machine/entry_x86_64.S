/*
 * Own register capture: the front door's functions begin here, while the caller's registers are
 * still where the caller left them. A C function would have to find its own caller first, and its
 * prologue may have moved the callee-saved registers already; getcontext() makes a system call.
 *
 * struct sfb_context: 17 registers by DWARF number, then the mask of known registers. The slots of
 * call-clobbered registers are not written.
 */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#define RBX	3*8
#define RBP	6*8
#define RSP	7*8
#define R12	12*8
#define R13	13*8
#define R14	14*8
#define R15	15*8
#define RIP	16*8
#define VALID	17*8

/* bits 3 (rbx), 6 (rbp), 7 (rsp), 12 to 15, 16 (the pc) */
#define CALLEE_SAVED	0x1f0c8

/* Saves into the context at `ctx`; the return address is `depth` bytes above rsp. Uses rax. */
.macro save ctx, depth
	movq	%rbx, RBX(\ctx)
	movq	%rbp, RBP(\ctx)
	leaq	8+\depth(%rsp), %rax
	movq	%rax, RSP(\ctx)
	movq	%r12, R12(\ctx)
	movq	%r13, R13(\ctx)
	movq	%r14, R14(\ctx)
	movq	%r15, R15(\ctx)
	movq	\depth(%rsp), %rax
	movq	%rax, RIP(\ctx)
	movq	$CALLEE_SAVED, VALID(\ctx)
.endm

/*
 * A public function that captures its caller and passes the context on as one more argument. 152
 * bytes: the context, and 8 more to align the stack for the call.
 */
.macro entry name, argument, target
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	_CET_ENDBR
	subq	$152, %rsp
	.cfi_adjust_cfa_offset 152
	save	%rsp, 152
	movq	%rsp, \argument
	call	\target
	addq	$152, %rsp
	.cfi_adjust_cfa_offset -152
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

	.text
	.hidden	sfb_backtrace_cbf_from
	.hidden	sfb_backtrace_addresses_from
	.hidden	sfb_backtrace_from
	entry	sframe_backtrace_cbf, %r8, sfb_backtrace_cbf_from
	entry	sframe_backtrace_addresses, %r8, sfb_backtrace_addresses_from
	entry	sframe_backtrace, %rdx, sfb_backtrace_from

	.globl	sfb_context_capture
	.type	sfb_context_capture, @function
	.p2align 4
sfb_context_capture:
	.cfi_startproc
	_CET_ENDBR
	save	%rdi, 0
	ret
	.cfi_endproc
	.size	sfb_context_capture, . - sfb_context_capture

	.section .note.GNU-stack, "", @progbits
