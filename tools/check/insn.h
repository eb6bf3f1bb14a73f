/*
 * What an instruction does to the frame, in the same words for every machine: which registers it
 * changes, what it loads and stores beside one, and where it goes on.
 *
 * decode.c and one file for each machine make this of what capstone says; no_decode.c stands in
 * their place in builds without it.
 */
#ifndef CHECK_INSN_H
#define CHECK_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers have their DWARF numbers: 0 to 15 on AMD64, 0 to 31 on AArch64. */
enum { INSN_REGISTERS = 32, INSN_NO_REGISTER = 255 };

/* Where it goes on. */
enum insn_flow {
    FLOW_ON,
    FLOW_BRANCH, /* to its target, or on */
    FLOW_JUMP,   /* to its target */
    FLOW_CALL,   /* on, if the callee returns */
    FLOW_MAYBE,  /* on, perhaps: a trap, or bytes behind it that are no instruction */
    FLOW_RETURN,
    FLOW_AWAY /* nobody knows where to */
};

enum insn_what {
    WHAT_NOTHING,
    WHAT_SET,      /* reg[0] = base + amount */
    WHAT_ADD,      /* reg[0] = base + reg[1] * amount, which is 1 or -1 */
    WHAT_CONSTANT, /* reg[0] = amount */
    WHAT_INSERT,   /* 16 bits of reg[0], from bit `before` on, = amount */
    WHAT_STORE,    /* the words at base + amount = reg[0], reg[1] */
    WHAT_LOAD,     /* the other way round */
    WHAT_SWAP,     /* reg[0] and reg[1] */
    WHAT_LEAVE,    /* AMD64: sp = fp, and fp is popped */
    WHAT_ENTER,    /* AMD64: fp is pushed, fp = sp, and sp = sp - amount */
    WHAT_SIGN,     /* AArch64: the link register; amount: 1 key A, 2 key B */
    WHAT_UNSIGN    /* and back */
};

struct insn {
    uint64_t address, target; /* target: of a jump or call, if has_target */
    int64_t amount;
    int32_t before, after; /* of a load or store: added to its base before it, and after it */
    uint32_t kills;        /* a bit for each register that gets another value */
    uint16_t bytes;        /* of a load or store, for each of its words */
    uint8_t words;         /* of one: 1 or 2 */
    uint8_t size;
    uint8_t flow, what; /* enum insn_flow, enum insn_what */
    uint8_t reg[2], base;
    bool has_target;
    bool padding; /* it does nothing, between two functions or in front of a loop */
    bool enters;  /* it asks the kernel for something */
};

static inline uint64_t insn_end(const struct insn *i)
{
    return i->address + i->size;
}

struct decoder;

/* @return NULL: no memory, no decoder in this build, or none for the machine */
struct decoder *decoder_open(uint8_t abi);

void decoder_close(struct decoder *d);

/* Reads the instruction at `code`. @return false: there is none that this decoder knows */
bool decoder_read(struct decoder *d, struct insn *out, const uint8_t *code, size_t size,
                  uint64_t address);

/* Whether this build has a decoder at all. */
bool decoder_built(void);

#endif
