/* Samples of each thread in the order of time, for formats with a time line. */
#ifndef PROFILER_REPORT_FORMATS_PIECES_H
#define PROFILER_REPORT_FORMATS_PIECES_H

#include "profiler/report/model/model.h"

/* A sample, or what was never sampled of a thread. */
struct report_piece {
    uint32_t member; /* index; the number of members: of no thread */
    bool last;       /* never sampled: behind all that have a time, and without a row */
    uint64_t time;   /* ns from report_pieces_origin() on; 0 without times */
    uint64_t weight;
    uint32_t row;   /* index */
    uint32_t order; /* as they came, of two with one time */
};

struct report_pieces {
    REPORT_ARRAY(struct report_piece) all; /* by thread, then by time */
    bool timed;                            /* each is one sample; else a row's samples */
};

/* @return when the first recording began, ns since 1970; recordings without a clock are left out, so it may be 0 */
uint64_t report_pieces_origin(const struct report_model *model);

/*
 * @param most  frames that all pieces together may have; with more, pieces are rows, without times. 0: no limit
 * @return false: no memory; out is to be freed in any case
 */
bool report_pieces_make(struct report_pieces *out, const struct report_model *model, size_t most);

/* Pieces of one row that follow each other become one. */
void report_pieces_merge(struct report_pieces *pieces);

/* One time line for all threads; what was never sampled comes last. */
void report_pieces_sort_by_time(struct report_pieces *pieces);

/* @return the first piece of the next thread, behind piece `at` */
size_t report_pieces_end(const struct report_pieces *pieces, size_t at);

void report_pieces_free(struct report_pieces *pieces);

#endif
