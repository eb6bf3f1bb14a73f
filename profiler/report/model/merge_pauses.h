/*
 * Pauses in a merged recording. A pause is of one input: others that ran at that time were recorded. So each stands with
 * its input's number, and where all inputs that ran were paused, one of the merged recording stands as well: nothing is in it
 * from that time, and its length is without it.
 */
#ifndef PROFILER_REPORT_MODEL_MERGE_PAUSES_H
#define PROFILER_REPORT_MODEL_MERGE_PAUSES_H

#include "sfb/recording.h"
#include "util/array.h"

struct merge_pause {
    uint64_t from, to; /* on the merged recording's clock */
    uint32_t part;     /* number of an input; 0: all of the input at hand */
};

struct merge_pauses {
    REPORT_ARRAY(struct merge_pause) inputs; /* when each ran */
    REPORT_ARRAY(struct merge_pause) own;    /* of inputs as a whole */
    REPORT_ARRAY(struct merge_pause) parts;  /* what is written by number */
    size_t first_own;                        /* of the input at hand */
    uint32_t numbers, nested;                /* before the input at hand, and in it */
};

/* Begins an input, which ran between two times. @return false: no memory */
bool merge_pauses_begin(struct merge_pauses *pauses, uint64_t from, uint64_t to);

/* Adds a pause of it, in its order. @param pause  part: an input of the input, which was merged. @return false: no memory */
bool merge_pauses_add(struct merge_pauses *pauses, struct merge_pause pause);

/* Ends the input: it has a number, and each part of one that was merged has. @return false: no memory */
bool merge_pauses_end(struct merge_pauses *pauses);

/* @param last  when the merged recording ends: a pause up to then stays open */
enum sfb_status merge_pauses_write(const struct merge_pauses *pauses,
                                   struct sfb_recording_writer *writer, uint64_t last);

void merge_pauses_free(struct merge_pauses *pauses);

#endif
