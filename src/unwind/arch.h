/*
 * What an architecture is to the walker. The code of each is in arch_<name>.h (constants, and what
 * the walk inlines), arch_<name>.c, shapes_<name>.c (code known by its instructions) and
 * capture_<name>.S; this is the one place that chooses.
 */
#ifndef SFB_UNWIND_ARCH_H
#define SFB_UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Every arch_<name>.h defines:
 *
 *     SFB_ARCH_ABI             the ABI whose sections describe this machine's code
 *     SFB_ARCH_PC, _SP, _FP    DWARF numbers of these registers
 *     SFB_ARCH_RA              DWARF number of the column that the return address has in CFI
 *     SFB_ARCH_LR              true where a call leaves the return address in a register
 *     SFB_ARCH_FRAME_RECORDS   true where the ABI asks all code for frame records, and fp can be
 *                              believed where a table is there and does not help, too
 *     SFB_ARCH_ENTRY_SIZE      how far behind an entry point its code may reach;
 *                              sfb_arch_is_outermost() is asked only there
 *     SFB_ARCH_PC_SHIFT        low bits of a pc that say nothing
 *     SFB_ARCH_PC_BITS         bits of a pc in user space
 *     SFB_ARCH_CODE_MASK       bits of an address of code: the others authenticate it
 *     SFB_ARCH_DATA_MASK       bits of an address of data: the others are a tag
 *     SFB_ARCH_LIBUNWIND       the library that unwinds this machine's frames
 *
 *     sfb_arch_regs()                      the registers that tables track, out of all
 *     sfb_arch_thread_pointer()            where what belongs to the calling thread is
 *     sfb_arch_pack(), sfb_arch_unpack()   most rules, in 64 - SFB_ARCH_PC_BITS bits, never all 0
 *     sfb_arch_follow()                    executes one of these
 */
#if defined(__x86_64__)
#include "unwind/arch_x86_64.h"
#elif defined(__aarch64__)
#include "unwind/arch_aarch64.h"
#endif

#include "sfb/walk.h"

/* The opposite: a context in which nothing but what tables track is known. */
void sfb_arch_context(struct sfb_context *out, const struct sfb_regs *regs);

/* @return whether the code at pc is (the rest of) a signal trampoline */
bool sfb_arch_is_trampoline(struct sfb_memory *code, uint64_t pc);

/*
 * Finds the rule of an interrupted linkage stub by its code, where linkers write no table for it.
 *
 * @return whether the code at pc is one
 */
bool sfb_arch_stub_rule(struct sfb_memory *code, uint64_t pc, struct sfb_rule *out);

/*
 * Finds the rule of a frame whose code is known by its instructions, because its table is wrong.
 *
 * @param pc  of the frame, or its return address
 * @return SFB_OK, SFB_NO_SHAPE; SFB_NO_REGISTER: it is known, and has no caller that could be found
 */
enum sfb_status sfb_arch_known_rule(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                                    struct sfb_rule *out);

/* @return bytes of the instruction at pc if it is one that assemblers pad code with, else 0 */
uint64_t sfb_arch_nop_size(struct sfb_memory *code, uint64_t pc);

/*
 * Reads the registers that the kernel saved where a handler's trampoline finds them.
 *
 * @param sp  stack pointer at the trampoline
 * @return SFB_OK, SFB_MISALIGNED, SFB_UNREADABLE
 */
enum sfb_status sfb_arch_signal_context(struct sfb_context *out, struct sfb_memory *stack,
                                        uint64_t sp);

/*
 * @return whether a frame without a table is where this process began, and so has no caller: the
 *         program's `_start`, by its code, or the dynamic loader's, which has no table at all
 */
bool sfb_arch_is_outermost(const struct sfb_entries *entries, struct sfb_memory *code, uint64_t pc,
                           enum sfb_frame_kind kind);

/*
 * Guesses the rule of a frame that no table covers: that of a function which keeps a frame pointer,
 * or, where the code at the pc of an interrupted one shows that its frame is not made, or no more,
 * that of its caller's frame.
 */
struct sfb_rule sfb_arch_guess(struct sfb_memory *code, struct sfb_memory *stack,
                               const struct sfb_regs *regs, enum sfb_frame_kind kind);

/* @return whether the code before ra is a call, which returns to it */
bool sfb_arch_is_call(struct sfb_memory *code, uint64_t ra);

/*
 * @param start  of the function that pc is in
 * @return whether fp leads to the function's own frame record at pc, by its code
 */
bool sfb_arch_sets_fp(struct sfb_memory *code, uint64_t start, uint64_t pc);

/*
 * rt_sigprocmask(), straight into the kernel: the C library's wrapper sets errno and may be
 * interposed.
 *
 * @return the kernel's answer, an errno negated
 */
long sfb_arch_sigprocmask(uint64_t how, uint64_t set);

/*
 * Any system call of up to four arguments, by its number, likewise.
 *
 * @return the kernel's answer, an errno negated
 */
long sfb_arch_syscall(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/*
 * @return whether the calling thread has a thread pointer: none has while a static-pie program
 *         relocates itself
 */
bool sfb_arch_has_thread_pointer(void);

/* Valgrind's client request. @return its answer; 0 where there is no Valgrind */
uint64_t sfb_arch_valgrind(const uint64_t request[6]);

#endif
