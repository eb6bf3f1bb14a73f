/**
 * The stack that is measured: 1,024 functions in 8 shared objects, called one inside the other.
 *
 * The shared objects are generated (chain_gen.c) and built twice, with and without frame pointers.
 * A function does not know what it calls: it takes the next of a table, so any order of the same
 * functions is a stack.
 */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include <stddef.h>

enum {
    CHAIN_PARTS = 8,
    CHAIN_PART_FUNCTIONS = 128,
    CHAIN_FUNCTIONS = CHAIN_PARTS * CHAIN_PART_FUNCTIONS
};

/* With frame pointers, and without. */
enum chain_build { CHAIN_FP, CHAIN_NOFP, CHAIN_BUILDS };

struct batch;
struct chain;
typedef void chain_function(struct chain *chain);

/* What the functions hand down. */
struct chain {
    chain_function *const *next; /* still to be called; the last is the leaf */
    struct batch *batch;         /* for the leaf */
    size_t zero;                 /* 0, which the compiler cannot know */
};

/* What each shared object exports, as "chain_part". */
struct chain_part {
    const char *compiler;
    chain_function *functions[CHAIN_PART_FUNCTIONS];
};

/*
 * An order of functions, outermost first, with a free place for the leaf behind them. Each build
 * has its own; the numbers tell which function it is across orders.
 */
struct chain_order {
    size_t count;
    chain_function *functions[CHAIN_FUNCTIONS + 1];
    unsigned numbers[CHAIN_FUNCTIONS];
};

/* Loads the shared objects of a build; says on stderr what is missing. @return 0, or -1 */
int chain_load(enum chain_build build);

/* The compiler that built the chain, as it names itself. */
const char *chain_compiler(void);

/*
 * Makes an order of count functions that changes the shared object every 4 frames on average. Equal
 * seeds give the same functions by number in both builds.
 */
void chain_order_make(struct chain_order *out, enum chain_build build, size_t count, unsigned seed);

/* Calls the functions of an order one inside the other, and the leaf in the last. */
void chain_enter(struct chain_order *order, chain_function *leaf, struct batch *batch);

/* @return the number of the function whose code contains address, by its start; or CHAIN_FUNCTIONS
 */
unsigned chain_function_at(enum chain_build build, const void *address);

#endif
