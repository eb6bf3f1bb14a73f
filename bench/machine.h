/** Where the figures come from: without it they mean nothing. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Keeps the process on one CPU, the last that it may use (the first serves most interrupts), and
 * other work off it where that is allowed.
 */
void machine_pin(void);

/* After machine_pin(). @return whether there is another CPU that this process may use */
bool machine_has_two(void);

/* Starts a thread on that other CPU. @return 0, or -1 */
int machine_start_elsewhere(pthread_t *out, void *(*function)(void *));

/* Says what the machine, the kernel, the compilers and the libraries are. */
void machine_describe(FILE *out);

#endif
