/* What came of a synthesis: sums, and what is left out. */
#ifndef TOOLCHAIN_SYNTH_SYNTHESIS_SUMS_H
#define TOOLCHAIN_SYNTH_SYNTHESIS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/code_ranges.h"

/* Code that .eh_frame describes and the section does not. */
struct synthesis_gap {
    struct object_range code, function;
    const char *reason; /* static: one text for each reason */
};

struct synthesis {
    uint32_t function_count; /* of .eh_frame */
    uint32_t partial_count;  /* with gaps */
    uint64_t row_count;      /* of the section; equal neighbours are merged */
    uint64_t eh_frame_size;  /* bytes of the entries */
    uint64_t code_size;      /* bytes of the functions ... */
    uint64_t gap_size;       /* ... and of the code left out */
    struct synthesis_gap *gaps;
    size_t gap_count, gap_capacity;
    struct object_range newer; /* the first function that version 3 states better ... */
    const char *newer_reason;  /* ... and why this one cannot; NULL: no such function */
};

#endif
