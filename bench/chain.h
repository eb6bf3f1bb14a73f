/**
 * The stacks that are measured: 1,024 functions in 8 shared objects, called one inside the other.
 *
 * The shared objects are generated (chain_gen.c) and built with and without frame pointers, and
 * each of those with and without .sframe; the program is linked with them. A function does not know
 * what it calls: it takes the next of a table, so any order of the same functions is a stack.
 */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHAIN_PARTS = 8,
    CHAIN_PART_FUNCTIONS = 128,
    CHAIN_FUNCTIONS = CHAIN_PARTS * CHAIN_PART_FUNCTIONS,
    CHAIN_MANY_PARTS = 500,
    CHAIN_MANY_FUNCTIONS = 2
};

enum chain_set {
    CHAIN_FP,      /* with frame pointers */
    CHAIN_NOFP,    /* without */
    CHAIN_FP_BARE, /* the same code without .sframe */
    CHAIN_NOFP_BARE,
    CHAIN_FP_HALF, /* every other shared object without .sframe */
    CHAIN_NOFP_HALF,
    CHAIN_FP_PLUGIN, /* CHAIN_FP again, of files that the program is not linked with */
    CHAIN_NOFP_PLUGIN,
    CHAIN_MANY, /* 500 shared objects of 2 functions, without frame pointers: chain_many.c */
    CHAIN_SETS
};

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

/* A set as it was loaded. */
struct chain_loaded {
    const char *name; /* "fp", "nofp": how tables call it */
    bool frame_pointers;
    unsigned parts, part_functions;
    unsigned run; /* frames in one shared object before the next one, on average */
    chain_function *functions[CHAIN_FUNCTIONS];
    void *return_addresses[CHAIN_FUNCTIONS]; /* what verify_learn() saw in each */
    bool bare[CHAIN_FUNCTIONS];              /* no .sframe describes it */
};

/*
 * An order of functions, outermost first, with a free place for the leaf behind them. Each set has
 * its own; the numbers tell which function it is across orders.
 */
struct chain_order {
    enum chain_set set;
    size_t count;
    chain_function *functions[CHAIN_FUNCTIONS + 1];
    unsigned numbers[CHAIN_FUNCTIONS];
};

/* Loads a set, but CHAIN_MANY; says on stderr what is missing. @return 0, or -1 */
int chain_load(enum chain_set id);

/*
 * Loads CHAIN_MANY: 500 copies of one small shared object, which the loader takes for 500
 * libraries, because each is a file of its own. @return 0, or -1: said on stderr
 */
int chain_load_many(void);

/* The compiler that built the chain, as it names itself. */
const char *chain_compiler(void);

/* A set, for reading, and for verify_learn() to complete. */
struct chain_loaded *chain_loaded(enum chain_set set);

/* @return the functions that a set has */
size_t chain_count(enum chain_set set);

/* Equal seeds give the same functions by number in every set of the same shape. */
void chain_order_make(struct chain_order *out, enum chain_set id, size_t count, unsigned seed);

/* All functions of a set in one order, the same at every call. */
struct chain_order *chain_whole(enum chain_set set);

/* Calls the functions of an order one inside the other, and the leaf in the last. */
void chain_enter(struct chain_order *order, chain_function *leaf, struct batch *batch);

#endif
