/** Where the figures come from: without it they mean nothing. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdio.h>

/*
 * Keeps the process on one CPU, the last that it may use (the first serves most interrupts), and
 * other work off it where that is allowed.
 */
void machine_pin(void);

/* Says what the machine, the kernel, the compilers and the libraries are. */
void machine_describe(FILE *out);

#endif
