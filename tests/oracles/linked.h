/*
 * Linked oracles: libunwind's or libgcc's walk, as of any program that is linked with it.
 *
 * For the live tests, which walk their own stacks, mostly from where they are and not from a signal's
 * context. The others, loaded.h, can do without the program's help: they are loaded beside it, know
 * trampolines and stubs, and survive what they read. Here that would hide what a test is about.
 */
#ifndef SFB_ORACLES_LINKED_H
#define SFB_ORACLES_LINKED_H

#include "support/trace.h"

/* libunwind's walk from a ucontext_t (NULL: from its own caller, whose frame comes first). */
void linked_libunwind_walk(struct trace *out, void *ucontext);

/*
 * libgcc's walk, by which exceptions are thrown, from its own caller, whose frame comes first. On
 * AArch64 it reads what libunwind 1.6 refuses, code that signs return addresses, and it is strict
 * about it: it authenticates each of them with the CFA that it found.
 *
 * @param interrupted  leaves out what is inside of the frame that a signal interrupted at this pc,
 *                     which must be on the stack; 0: leaves nothing out
 */
void linked_libgcc_walk(struct trace *out, uint64_t interrupted);

#endif
