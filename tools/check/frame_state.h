/*
 * What is known of registers and of the frame's stack at an instruction, from the code alone.
 *
 * A value is unknown, something that only the code knows, a number, the CFA and a number, or what a
 * register held when the function was entered. The CFA itself has no value: it is what others are
 * counted from.
 */
#ifndef CHECK_FRAME_STATE_H
#define CHECK_FRAME_STATE_H

#include <sfb/rule.h>

#include "insn.h"

enum value_kind {
    VALUE_UNKNOWN,
    VALUE_OTHER, /* not what it was at entry, and not known to be a place in the frame */
    VALUE_NUMBER,
    VALUE_CFA,  /* the CFA + amount */
    VALUE_ENTRY /* of register `reg`; amount: 0, or the key by which it is signed */
};

struct value {
    int64_t amount;
    uint8_t kind, reg;
};

/* Words of a frame that are remembered: what callers need, and copies of it. */
enum { STATE_SLOTS = 12 };

struct slot {
    int64_t at; /* from the CFA */
    struct value value;
};

/* A machine's registers, as functions use them. */
struct machine {
    uint8_t sp, fp, lr; /* lr: INSN_NO_REGISTER on AMD64 */
    int8_t entry;  /* the CFA is so much above sp where a function begins, and where it returns */
    int8_t word;   /* bytes that a call pushes */
    uint8_t call;  /* the register with the number of a system call */
    int64_t clone; /* of clone(): the child returns on another stack */
};

struct frame_state {
    struct value reg[INSN_REGISTERS];
    struct slot slot[STATE_SLOTS];
    uint8_t slots;
    bool forgot;   /* there were more */
    bool anchored; /* by the beginning of the function, not by a row */
    bool switched; /* sp may be on another stack, where no row follows it */
};

struct machine machine_of(uint8_t abi);

/* Where a function begins. */
void state_enter(struct frame_state *s, const struct machine *m);

/* What a row says, where the code says nothing. */
void state_from_row(struct frame_state *s, const struct machine *m, const struct sfb_rule *rule);

void state_apply(struct frame_state *s, const struct machine *m, const struct insn *insn);

/* Makes `s` what holds on both ways to a place. @return whether it changed */
bool state_meet(struct frame_state *s, const struct frame_state *other);

/* Keeps sp and fp alone. */
void state_forget(struct frame_state *s, const struct machine *m);

/* What is in the word at the CFA + at. */
struct value state_slot(const struct frame_state *s, int64_t at);

/* How far the CFA is above a register. @return false: that is not known */
bool state_height(const struct frame_state *s, uint8_t reg, int64_t *out);

#endif
