/*
 * Rules -> the bytes of an SFrame section: what src/sframe reads, written.
 *
 * An assembler stores each function's rows; here functions with the same rows share them (in
 * versions 1 and 2 also where one has the first rows of another), and a start takes as many bytes as
 * the rows of its function need, not as its size would. More cannot be shared, because starts count
 * from the function.
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

#include <sfb/section.h>

#include "sframe_bytes.h"
#include "sframe_expressible.h"
#include "sframe_runs.h"

/* A row: the rule from a byte of its function on. */
struct synth_row {
    uint32_t start; /* the first row of a function has 0 */
    struct sfb_rule rule;
};

/* Code with rows, in the order in which they begin. Of a signal frame all rows are, or none. */
struct synth_function {
    uint64_t start;
    uint32_t size;
    uint32_t row_count;
    const struct synth_row *rows;
    enum sfb_fde_type type; /* PCMASK, on AMD64: the rows are of one PLT entry of 16 bytes */
};

struct synth_encoder {
    struct sframe_format format;
    uint64_t address; /* of the section */
    struct synth_fde *fdes;
    size_t fde_count, fde_capacity;
    struct sframe_runs runs;
};

/*
 * @return whether a section of a version at an address can name a function that starts at another:
 *         version 3 has 64 bits for it
 */
bool synth_in_reach(unsigned version, uint64_t section, uint64_t start);

/*
 * @param version  1, 2 or 3
 * @param address  where the section will lie: functions are counted from there
 */
void synth_encoder_init(struct synth_encoder *out, unsigned version, enum sfb_abi abi,
                        uint64_t address);

/*
 * Adds a function behind those that are there already. Its rules have to be expressible, its start
 * in reach, its rows no more than sframe_rows_max() of the format.
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
