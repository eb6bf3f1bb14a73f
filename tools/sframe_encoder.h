/*
 * Rules -> the bytes of an SFrame section, version 1: what src/sframe reads, written.
 *
 * An assembler stores each function's rows; here functions with the same rows share them, also
 * where one has the first rows of another, and a start takes as many bytes as the rows of its
 * function need, not as its size would. More cannot be shared, because starts count from the
 * function.
 *
 * Tried and dropped: cutting functions into stretches, so that epilogues are shared, too. It takes
 * 15 % off the section of a program whose functions are large (git: 0.82 of .eh_frame and its table
 * instead of 0.95, perl: 0.86 instead of 1.03), and leaves twice as many entries, which are no
 * functions any more.
 */
#ifndef SFRAME_ENCODER_H
#define SFRAME_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/abi.h>
#include <sfb/rule.h>
#include <sfb/section.h>

/* A row: the rule from a byte of its function on. */
struct synth_row {
    uint32_t start; /* the first row of a function has 0 */
    struct sfb_rule rule;
};

/* Code with rows, in the order in which they begin. */
struct synth_function {
    uint64_t start;
    uint32_t size;
    uint32_t row_count;
    const struct synth_row *rows;
    enum sfb_fde_type type; /* PCMASK, on AMD64: the rows are of one PLT entry of 16 bytes */
};

struct synth_encoder {
    enum sfb_abi abi;
    uint64_t address; /* of the section */
    bool share;
    struct synth_fde *fdes;
    size_t fde_count, fde_capacity;
    struct synth_run *runs; /* rows of functions, each kind once */
    size_t run_count, run_capacity;
    size_t *table; /* hash table of runs: index + 1, 0 is free */
    size_t table_size;
    uint8_t *bytes; /* of all runs */
    size_t size, capacity;
};

/*
 * Says why no row of version 1 states a rule.
 *
 * @return NULL if one does
 */
const char *synth_inexpressible(enum sfb_abi abi, const struct sfb_rule *rule);

/* @return whether a section at an address can name a function that starts at another */
bool synth_in_reach(uint64_t section, uint64_t start);

/* @param address  where the section will lie: functions are counted from there */
void synth_encoder_init(struct synth_encoder *out, enum sfb_abi abi, uint64_t address);

/*
 * Adds a function behind those that are there already. Its rules have to be expressible and its
 * start in reach.
 *
 * @return false: no memory, or more rows than a section can hold
 */
bool synth_encoder_add(struct synth_encoder *encoder, const struct synth_function *function);

/*
 * Makes the section.
 *
 * @param out        the bytes, for free()
 * @param row_count  rows that are stored; NULL: not wanted
 * @return false: no memory, or larger than a section can be
 */
bool synth_encoder_finish(struct synth_encoder *encoder, uint8_t **out, size_t *size,
                          uint32_t *row_count);

void synth_encoder_free(struct synth_encoder *encoder);

#endif
