/*
 * Handlers of the stepper, and what the program believes to be in force for the same signals.
 *
 * Runtimes install handlers for whatever they can think of, some of them for all signals. What they
 * say of a signal that the stepper needs is kept here, and told back when they ask.
 */
#ifndef SFB_AGREEMENT_HANDLERS_H
#define SFB_AGREEMENT_HANDLERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* As the kernel has it; glibc's struct differs. */
struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

/*
 * Installs a handler of the stepper. From now on the program's own is only remembered. Where that
 * one asks for the alternate stack, the stepper's is put there, too: the thread's may be tiny.
 *
 * @return false: the kernel refused; not in a handler
 */
bool handlers_install(int signo, void (*handler)(int, siginfo_t *, void *), int flags);

/* @return whether the stepper has a handler for it */
bool handlers_has(int signo);

/* Signals that may never be blocked while a thread is stepped, as the kernel's mask. */
uint64_t handlers_unblocked(void);

/* What rt_sigaction() would have done for the program; in and out may be NULL. */
void handlers_exchange(int signo, const struct kernel_action *in, struct kernel_action *out);

/* Gives a signal that is not the stepper's to the program, as the kernel would have. */
void handlers_pass_on(int signo, siginfo_t *info, void *context);

#endif
