/* The result of a synthesis, as text. */
#ifndef TOOLCHAIN_SYNTH_OUTCOME_H
#define TOOLCHAIN_SYNTH_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "toolchain/synth/synthesis.h"

struct synthesis_size {
    uint64_t address; /* of the section */
    size_t bytes;
    uint64_t eh_frame; /* bytes of .eh_frame and .eh_frame_hdr */
    uint32_t stored_rows;
};

/* The version chosen for --sframe-version auto. */
struct synthesis_choice {
    unsigned version;
    const char *because; /* why a function needs this version; NULL: the oldest is enough */
    struct object_range function;
};

/* Prints two lines, then the code left out: with `verbose` each stretch, else each reason. */
void synthesis_report(FILE *to, const char *name, const struct synthesis *synthesis,
                      const struct synthesis_size *size, bool verbose);

/* Prints a line. */
void synthesis_report_choice(FILE *to, const struct synthesis_choice *choice);

#endif
