/* A stack as any of the walkers saw it, and what is asked of two of them. */
#ifndef SFB_ORACLES_STACK_H
#define SFB_ORACLES_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/frame.h"
#include "sfb/status.h"

enum { FRAMES_MAX = 2048, CBF_SIZE = 8192 };

/* The oracle's status if it read what cannot be read. */
enum { ORACLE_FAULT = -1000 };

/* How a walk ended, in terms that all walkers have. */
enum end { END_OUTERMOST, END_LIMIT, END_STOPPED };

struct stack {
    size_t count;
    enum end end;
    int status;   /* as the walker says it */
    bool sp_rule; /* the oracle passed over a rule for sp: see loaded_libunwind.c */
    uint64_t address[FRAMES_MAX];
    uint8_t kind[FRAMES_MAX];
};

/*
 * Reads our backtrace as any user would, from its bytes: an encoder that lost a frame or the
 * difference between pc and ra is found here, too.
 *
 * @param end  what the info struct said
 * @return     false: it is no valid CBF, or its last byte does not say the same
 */
bool stack_decode(struct stack *out, const uint8_t *cbf, size_t size, enum sfb_status end);

size_t stack_encode(uint8_t *buffer, size_t size, const struct stack *stack);

/* The index of the first frame in which they differ; the shorter one's count if there is none. */
size_t stack_first_difference(const struct stack *a, const struct stack *b);

/* Whether frames and ends are the same, and neither was cut short by a fault. */
bool stack_same(const struct stack *a, const struct stack *b);

/* What tables are asked for frame i. */
uint64_t stack_lookup_address(const struct stack *stack, size_t i);

/*
 * Changes it, to show that a difference does not go unseen: in turn in an address, in a kind, in
 * its length and in its end.
 */
void stack_spoil(struct stack *stack, uint64_t turn);

/* Whether an address is in a loaded module. Takes no lock. */
bool stack_in_module(uint64_t address);

#endif
