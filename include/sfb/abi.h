/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * ABIs whose tables the library reads, on any host: their numbers and their special registers.
 */
#ifndef SFB_ABI_H
#define SFB_ABI_H

#include <stdint.h>

#include "api.h"

SFB_BEGIN_DECLS

/* Numbers as in an SFrame header: "1.2.1 SFrame ABI/arch identifier". */
enum sfb_abi { SFB_ABI_AARCH64_BE = 1, SFB_ABI_AARCH64_LE = 2, SFB_ABI_AMD64_LE = 3 };

enum { SFB_ABI_NO_REGISTER = 255 };

/* DWARF register numbers. Callee-saved beside sp and fp: saved_one and a range. */
struct sfb_abi_registers {
    uint8_t sp, fp, pc;
    uint8_t ra;        /* the usual column of the return address */
    int fixed_ra;      /* CFA offset to which calls push it; 0: it is in a register */
    uint8_t saved_one; /* SFB_ABI_NO_REGISTER: only the range is callee-saved */
    uint8_t saved_first, saved_last;
    uint8_t eh_return_last; /* 0 to this one: saved only by functions that return to a handler */
};

/**
 * The registers of an ABI, enum sfb_abi.
 *
 * Threads, signals: safe.   Cost: constant.   Source: psABI x86-64, "DWARF Register Number Mapping";
 * AADWARF64, "DWARF register names".
 */
static inline struct sfb_abi_registers sfb_abi_registers(unsigned abi)
{
    const struct sfb_abi_registers amd64 = { 7, 6, 16, 16, -8, 3, 12, 15, 1 };
    const struct sfb_abi_registers aarch64 = { 31, 29, 32, 30, 0, SFB_ABI_NO_REGISTER, 19, 28, 3 };

    return abi == SFB_ABI_AMD64_LE ? amd64 : aarch64;
}

SFB_END_DECLS

#endif
