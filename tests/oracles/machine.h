/*
 * What of the loaded oracles, and of those who ask them, depends on the machine:
 * machine_<architecture>.c has it, and nothing else does.
 */
#ifndef SFB_ORACLES_MACHINE_H
#define SFB_ORACLES_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* What libunwind puts before the names of its local functions. */
extern const char machine_libunwind_prefix[];

/* The number under which it gives the CFA out. */
extern const int machine_libunwind_cfa;

/*
 * Bytes from the start of the trampoline that handlers return to, to its system call. A thread may
 * be interrupted there, too, between the trampoline's two instructions.
 */
extern const uint64_t machine_trampoline_syscall;

/*
 * Finds that trampoline, by other means than the library under test, which goes by the bytes of the
 * code: neither can fool the other.
 *
 * @return its address, 0 if it cannot be found; not in a handler, and before there is one for
 *         SIGPROF
 */
uint64_t machine_find_trampoline(void);

uint64_t machine_pc(const ucontext_t *uc);
void machine_set_pc(ucontext_t *uc, uint64_t pc);

/* Whether the return address that uc has in a register, if this machine has it in one, is signed.
 */
bool machine_link_is_signed(const ucontext_t *uc);

/* Where the kernel put the context of a signal, by the stack pointer at the trampoline. */
ucontext_t *machine_signal_context(uint64_t sp);

/*
 * Takes uc, which stands in a linkage stub, back to the instruction that called the stub.
 *
 * @return where the stub's target will return to; 0, and uc is as it was: stubs have tables on this
 *         machine, and nobody needs help
 */
uint64_t machine_leave_stub(ucontext_t *uc);

/* Whether a program can have itself interrupted behind every instruction. */
extern const bool machine_can_step;

/* Turns that on or off for what uc returns to; nothing where it cannot be. */
void machine_step(ucontext_t *uc, bool on);
bool machine_is_stepped(const ucontext_t *uc);

#endif
