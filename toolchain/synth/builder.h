/* Collects the functions of a section row by row. */
#ifndef TOOLCHAIN_SYNTH_BUILDER_H
#define TOOLCHAIN_SYNTH_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "toolchain/synth/sframe_encoder.h"
#include "toolchain/synth/synthesis_sums.h"

struct synthesis_builder {
    struct synthesis *out;
    struct synth_encoder *encoder;
    const struct object *object;
    struct object_range function; /* of .eh_frame */
    uint64_t start, end;          /* of the rows not yet added; equal: none */
    struct synth_row *rows;
    uint32_t row_count;
    size_t row_capacity;
    bool partial;
    bool bad; /* an expression could not be decoded */
};

/* Each returns false if out of memory. */

/* Adds a row; consecutive rows form a function, up to the next gap. */
bool synthesis_add_row(struct synthesis_builder *builder, uint64_t start, uint64_t end,
                       const struct sfb_rule *rule);

/* Adds code that is left out. */
bool synthesis_add_gap(struct synthesis_builder *builder, uint64_t start, uint64_t end,
                       const char *reason);

/* Ends the current function. */
bool synthesis_flush(struct synthesis_builder *builder);

#endif
