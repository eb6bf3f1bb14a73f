/* Every row of an .eh_frame -> the functions of an SFrame section, and a list of what is left out.
 */
#ifndef SYNTHESIS_H
#define SYNTHESIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/eh_frame.h>

#include "object/code_ranges.h"
#include "sframe_encoder.h"

/* Code that .eh_frame describes and the section does not. */
struct synthesis_gap {
    struct object_range code, function;
    const char *reason; /* static; the same text for the same reason */
};

struct synthesis {
    uint32_t function_count; /* of .eh_frame */
    uint32_t partial_count;  /* those with gaps */
    uint64_t row_count;      /* of the section; rows that say the same are one */
    uint64_t eh_frame_size;  /* bytes of the entries */
    uint64_t code_size;      /* bytes of the functions ... */
    uint64_t gap_size;       /* ... and of those that are left out */
    struct synthesis_gap *gaps;
    size_t gap_count, gap_capacity;
    struct object_range newer; /* the first function of which version 3 could state more ... */
    const char *newer_reason;  /* ... and why this one cannot; NULL: there is none */
};

enum synthesis_result { SYNTHESIS_DONE, SYNTHESIS_BAD_DATA, SYNTHESIS_NO_MEMORY };

/*
 * Adds all functions to an encoder, in the order of the table of .eh_frame_hdr. Where entries
 * overlap the one that starts last holds, as in any search of that table.
 *
 * @param object  whose code is known: functions that are not in it are left out
 * @param error   written on SYNTHESIS_BAD_DATA, its offset counts from eh->data
 */
enum synthesis_result synthesize(struct synthesis *out, struct synth_encoder *encoder,
                                 const struct sfb_eh_frame *eh, const struct object *object,
                                 struct sfb_error *error);

void synthesis_free(struct synthesis *synthesis);

#endif
