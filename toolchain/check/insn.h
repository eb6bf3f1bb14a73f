/*
 * The effect of an instruction on the frame, the same for every machine: changed registers, loads
 * and stores relative to a register, and control flow.
 *
 * decode.c and a file for each machine translate capstone's result; no_decode.c replaces them in
 * builds without capstone.
 */
#ifndef TOOLCHAIN_CHECK_INSN_H
#define TOOLCHAIN_CHECK_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF numbers: 0 to 15 on AMD64, 0 to 31 on AArch64. */
enum { INSN_REGISTERS = 32, INSN_NO_REGISTER = 255 };

/* Control flow. */
enum insn_flow {
    FLOW_ON,
    FLOW_BRANCH, /* to its target, or on */
    FLOW_JUMP,   /* to its target */
    FLOW_CALL,   /* on, if the callee returns */
    FLOW_MAYBE,  /* perhaps on: a trap, or invalid bytes behind it */
    FLOW_RETURN,
    FLOW_AWAY /* to an unknown place */
};

/* Where a branch leads if a comparison found two equal values. */
enum insn_equal {
    EQUAL_UNKNOWN,
    EQUAL_ON,    /* on */
    EQUAL_TARGET /* to its target */
};

enum insn_what {
    WHAT_NOTHING,
    WHAT_SET,      /* reg[0] = base + amount */
    WHAT_ADD,      /* reg[0] = base + reg[1] * amount, which is 1 or -1 */
    WHAT_CONSTANT, /* reg[0] = amount */
    WHAT_INSERT,   /* 16 bits of reg[0], from bit `before` on, = amount */
    WHAT_STORE,    /* the words at base + amount = reg[0], reg[1] */
    WHAT_LOAD,     /* the reverse */
    WHAT_SWAP,     /* reg[0] and reg[1] */
    WHAT_COMPARE,  /* reg[0] with reg[1]; a branch behind it may tell that they are equal */
    WHAT_LEAVE,    /* AMD64: sp = fp, and fp is popped */
    WHAT_ENTER,    /* AMD64: fp is pushed, fp = sp, and sp = sp - amount */
    WHAT_SIGN,     /* AArch64: signs the link register; amount: 1 key A, 2 key B */
    WHAT_UNSIGN    /* ... authenticates it */
};

struct insn {
    uint64_t address, target; /* target: of a jump or call, if has_target */
    int64_t amount;
    int32_t before, after; /* of a load or store: added to its base before and after the access */
    uint32_t kills;        /* a bit for each register with a new, untracked value */
    uint16_t bytes;        /* of a load or store: size of each word */
    uint8_t words;         /* of a load or store: 1 or 2 */
    uint8_t size;
    uint8_t flow, what; /* enum insn_flow, enum insn_what */
    uint8_t equal;      /* of a branch: enum insn_equal */
    uint8_t reg[2], base;
    bool has_target;
    bool padding; /* a no-op between functions, or in front of a loop */
    bool enters;  /* a system call */
};

static inline uint64_t insn_end(const struct insn *i)
{
    return i->address + i->size;
}

struct decoder;

/* @return NULL: no memory, or no decoder for this machine in this build */
struct decoder *decoder_open(uint8_t abi);

void decoder_close(struct decoder *d);

/* Decodes the instruction at `code`. @return false: unknown */
bool decoder_read(struct decoder *d, struct insn *out, const uint8_t *code, size_t size,
                  uint64_t address);

/* Whether this build has a decoder. */
bool decoder_built(void);

#endif
