/* Converts the registers of perf records for a walk: perf_registers_<machine>.c. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_PERF_REGISTERS_H
#define PROFILER_COLLECTOR_OUTSIDE_PERF_REGISTERS_H

#include <stdint.h>

#include "sfb/context.h"

/* The registers that a walk uses: sample_regs_user of an event. */
extern const uint64_t perf_registers_wanted;

/* The record's number for registers of this machine of 64 bits: PERF_SAMPLE_REGS_ABI_64. */
enum { PERF_REGISTERS_64 = 2 };

/*
 * @param values  any alignment: one for each bit of the mask, from the lowest on
 */
void perf_registers_read(struct sfb_context *out, uint64_t mask, const uint8_t *values);

/* DWARF numbers: of the stack pointer, and the number that struct sfb_context has the pc by. */
extern const unsigned perf_register_sp, perf_register_pc;

/* Of the first three arguments of a system call. */
extern const unsigned perf_register_arguments[3];

/* The name of this machine in perf.data: uname -m. */
extern const char *const perf_machine;

#endif
