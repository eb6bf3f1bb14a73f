/*
 * Own register capture: the front door's functions begin here, while the caller's registers are
 * still where the caller left them.
 *
 * struct sfb_context: 33 registers by DWARF number, then the mask of known registers. The slots of
 * call-clobbered registers are not written, nor is the slot of x30: it holds the return address,
 * which is the pc.
 */
#define X(n)	((n)*8)
#define SP	X(31)
#define PC	X(32)
#define VALID	X(33)

/* bits 19 to 28, 29 (the frame pointer), 31 (sp), 32 (the pc) */
#define CALLEE_SAVED	0x1bff80000

/*
 * Saves into the context at x9. x19 to x30 are the caller's, sp is `depth` bytes below the caller's.
 * Uses x10. (No data lies below sp: AArch64 Linux has no red zone.)
 */
.macro save depth
	stp	x19, x20, [x9, X(19)]
	stp	x21, x22, [x9, X(21)]
	stp	x23, x24, [x9, X(23)]
	stp	x25, x26, [x9, X(25)]
	stp	x27, x28, [x9, X(27)]
	str	x29, [x9, X(29)]
	add	x10, sp, \depth
	str	x10, [x9, SP]
	str	x30, [x9, PC]
	movz	x10, CALLEE_SAVED >> 32, lsl 32
	movk	x10, CALLEE_SAVED >> 16 & 0xffff, lsl 16
	str	x10, [x9, VALID]
.endm

/*
 * A public function that captures its caller and passes the context on as one more argument. 288
 * bytes: the frame record, and the context. `hint 34` is `bti c`.
 */
.macro entry name, argument, target
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint	34
	stp	x29, x30, [sp, -288]!
	.cfi_def_cfa_offset 288
	.cfi_offset 29, -288
	.cfi_offset 30, -280
	add	x9, sp, 16
	save	288
	mov	x29, sp
	mov	\argument, x9
	bl	\target
	ldp	x29, x30, [sp], 288
	.cfi_restore 30
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

	.text
	.hidden	sfb_backtrace_cbf_from
	.hidden	sfb_backtrace_addresses_from
	.hidden	sfb_backtrace_from
	entry	sframe_backtrace_cbf, x4, sfb_backtrace_cbf_from
	entry	sframe_backtrace_addresses, x4, sfb_backtrace_addresses_from
	entry	sframe_backtrace, x2, sfb_backtrace_from

	.globl	sfb_context_capture
	.type	sfb_context_capture, %function
	.p2align 4
sfb_context_capture:
	.cfi_startproc
	hint	34
	mov	x9, x0
	save	0
	ret
	.cfi_endproc
	.size	sfb_context_capture, . - sfb_context_capture

	/*
	 * "Every indirect call lands on a `bti`". A program gets this check
	 * (-mbranch-protection=standard) only if every object has this note. AAELF64, "Program
	 * Property": GNU_PROPERTY_AARCH64_FEATURE_1_AND, bit 0.
	 */
	.section .note.gnu.property, "a"
	.p2align 3
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 1, 0

	.section .note.GNU-stack, "", %progbits
