/* What came of a synthesis, for people. */
#ifndef SYNTHESIS_REPORT_H
#define SYNTHESIS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "synthesis.h"

struct synthesis_size {
    uint64_t address; /* of the section */
    size_t bytes;
    uint64_t eh_frame; /* bytes of .eh_frame and .eh_frame_hdr */
    uint32_t stored_rows;
};

/* The version that was taken where none was given. */
struct synthesis_choice {
    unsigned version;
    const char *because; /* of which function no other states all; NULL: the oldest was taken */
    struct object_range function;
};

/*
 * Prints two lines, then what was left out: with `verbose` each stretch of code, else each reason.
 */
void synthesis_report(FILE *to, const char *name, const struct synthesis *synthesis,
                      const struct synthesis_size *size, bool verbose);

/* Prints a line. */
void synthesis_report_choice(FILE *to, const struct synthesis_choice *choice);

#endif
