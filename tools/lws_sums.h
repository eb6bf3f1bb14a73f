/* Notes of allocations, summed by stack. */
#ifndef LWS_SUMS_H
#define LWS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lws_note.h"

struct lws_sum {
    uint64_t blocks, bytes; /* bytes: at most UINT64_MAX, whatever a log says */
    unsigned depth;
    uint64_t frames[];
};

struct lws_sums {
    void *tree; /* of tsearch() */
    struct lws_sum **all;
    size_t count, room;
    uint64_t blocks, bytes;
};

/* @param sums  zero before the first one; @return false: no memory */
bool lws_sums_add(struct lws_sums *sums, const struct lws_note *note);

/* From now on they descend by bytes; none is added any more. */
void lws_sums_sort(struct lws_sums *sums);

void lws_sums_free(struct lws_sums *sums);

#endif
