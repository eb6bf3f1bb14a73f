/*
 * What is known of registers and of the frame's stack at an instruction, from the code alone.
 *
 * A value is unknown, something that only the code knows, a number, the CFA and a number, or what a
 * register held when the function was entered. The CFA itself has no value: it is what others are
 * counted from.
 */
#ifndef TOOLCHAIN_CHECK_FRAME_H
#define TOOLCHAIN_CHECK_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "toolchain/check/insn.h"

enum value_kind {
    VALUE_UNKNOWN,
    VALUE_OTHER, /* untracked: not the value at entry, not known to be a frame address */
    VALUE_NUMBER,
    VALUE_CFA,  /* the CFA + amount */
    VALUE_ENTRY /* of register `reg` at entry; amount: 0, or the key that signs it */
};

struct value {
    int64_t amount;
    uint8_t kind, reg;
};

/* Tracked words of a frame: saved registers and copies of them. */
enum { STATE_SLOTS = 12 };

struct slot {
    int64_t at; /* from the CFA */
    struct value value;
};

/* The roles of a machine's registers. */
struct machine {
    uint8_t sp, fp, lr; /* lr: INSN_NO_REGISTER on AMD64 */
    int8_t entry;       /* the CFA less sp at the entry and at a return */
    int8_t word;        /* bytes that a call pushes */
    uint8_t call;       /* the register with the number of a system call */
    int64_t clone;      /* number of clone(): the child returns on another stack */
};

struct frame_state {
    struct value reg[INSN_REGISTERS];
    struct slot slot[STATE_SLOTS];
    uint8_t slots;
    bool forgot;   /* some words did not fit */
    bool anchored; /* the state comes from the function's entry, not from a row */
    bool switched; /* sp may be on another stack, which no row describes */
};

#endif
