/* The functions of a section, collected row by row. */
#ifndef SYNTHESIS_BUILDER_H
#define SYNTHESIS_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "synthesis.h"

struct synthesis_builder {
    struct synthesis *out;
    struct synth_encoder *encoder;
    const struct object *object;
    struct object_range function; /* of .eh_frame */
    uint64_t start, end;          /* of the rows that are not added yet; equal: none */
    struct synth_row *rows;
    uint32_t row_count;
    size_t row_capacity;
    bool partial;
    bool bad; /* an expression could not be read */
};

/* Each returns false if there is no memory. */

/* Rows that follow each other are those of a function, until what lies between them is missing. */
bool synthesis_add_row(struct synthesis_builder *builder, uint64_t start, uint64_t end,
                       const struct sfb_rule *rule);

/* Adds code that is left out. */
bool synthesis_add_gap(struct synthesis_builder *builder, uint64_t start, uint64_t end,
                       const char *reason);

/* Ends the function that rows are being added to. */
bool synthesis_flush(struct synthesis_builder *builder);

#endif
