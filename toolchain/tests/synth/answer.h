/* The rule of a table for a byte of code, from any reader. */
#ifndef SYNTH_ANSWER_H
#define SYNTH_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF numbers, and the bytes that a call pushes. */
struct machine {
    int sp, fp, ra, pc;
    bool amd64;
};

/* The place of the caller's value of a register. */
struct place {
    enum { UNTOUCHED, IN_FRAME, AT_REGISTER, IS_REGISTER, IS_CFA, UNDEFINED, ELSEWHERE } how;
    int reg;
    int64_t offset;
};

/* A row, or nothing. */
struct answer {
    bool given;
    bool outermost, signal; /* version 3 */
    bool cfa_is_word;
    int cfa_reg;
    int64_t cfa;
    struct place ra, fp;
    uint8_t flags; /* enum sfb_rule_flags; libdw does not give them */
};

#endif
