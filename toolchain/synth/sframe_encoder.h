/*
 * Rules -> the bytes of an SFrame section.
 *
 * An assembler stores each function's rows. Here functions with equal rows share them (in versions
 * 1 and 2 also with equal first rows), and a start takes as many bytes as the rows need, not as the
 * function's size would. More cannot be shared, because starts count from the function.
 *
 * Tried and dropped: cutting functions into stretches, so that epilogues are shared, too. It saves
 * 15 % for a program with large functions (git: 0.82 of .eh_frame and its table instead of 0.95,
 * perl: 0.86 instead of 1.03), but leaves twice as many entries, which are no functions any more.
 */
#ifndef TOOLCHAIN_SYNTH_SFRAME_ENCODER_H
#define TOOLCHAIN_SYNTH_SFRAME_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/section.h>

#include "toolchain/synth/sframe_bytes.h"
#include "toolchain/synth/sframe_expressible.h"
#include "toolchain/synth/sframe_runs.h"

/* A row: the rule from a byte of its function on. */
struct synth_row {
    uint32_t start; /* the first row of a function has 0 */
    struct sfb_rule rule;
};

/* Code with rows, in ascending order. In a signal frame all rows are signal rows. */
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
 * @return whether a section of a version can name a function at that distance: version 3 has 64
 *         bits
 */
bool synth_in_reach(unsigned version, uint64_t section, uint64_t start);

/*
 * @param version  1, 2 or 3
 * @param address  the section's final address: starts count from there
 */
void synth_encoder_init(struct synth_encoder *out, unsigned version, enum sfb_abi abi,
                        uint64_t address);

/*
 * Adds a function behind the present ones. Its rules must be expressible, its start in reach, its
 * rows at most sframe_rows_max() of the format.
 *
 * @return false: no memory, or more rows than a section can hold
 */
bool synth_encoder_add(struct synth_encoder *encoder, const struct synth_function *function);

/*
 * Makes the section.
 *
 * @param out        the bytes, for free()
 * @param row_count  stored rows; may be NULL
 * @return false: no memory, or larger than a section can be
 */
bool synth_encoder_finish(struct synth_encoder *encoder, uint8_t **out, size_t *size,
                          uint32_t *row_count);

void synth_encoder_free(struct synth_encoder *encoder);

#endif
