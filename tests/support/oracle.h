/* The oracles of the live tests: what other unwinders, as everybody links them, say of a stack. */
#ifndef SUPPORT_ORACLE_H
#define SUPPORT_ORACLE_H

#include "support/trace.h"

/* libunwind's walk from a ucontext_t (NULL: from its own caller, whose frame comes first). */
void oracle_walk(struct trace *out, void *ucontext);

/*
 * libgcc's walk, by which exceptions are thrown, from its own caller, whose frame comes first. On
 * AArch64 it reads what libunwind 1.6 refuses, code that signs return addresses, and it is strict
 * about it: it authenticates each of them with the CFA that it found.
 *
 * @param interrupted  leaves out what is inside of the frame that a signal interrupted at this pc,
 *                     which must be on the stack; 0: leaves nothing out
 */
void oracle_libgcc_walk(struct trace *out, uint64_t interrupted);

#endif
