/* Notes of allocations, summed by stack. */
#ifndef CONTRIB_LWS_LWS_SUMS_H
#define CONTRIB_LWS_LWS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contrib/lws/lws_note.h"

struct lws_sum {
    uint64_t blocks, bytes; /* bytes: at most UINT64_MAX */
    unsigned depth;
    uint64_t frames[];
};

struct lws_sums {
    void *tree; /* of tsearch() */
    struct lws_sum **all;
    size_t count, room;
    uint64_t blocks, bytes;
};

/* @param sums  zeroed before the first call; @return false: no memory */
bool lws_sums_add(struct lws_sums *sums, const struct lws_note *note);

/* Sorts by bytes, descending; lws_sums_add() must not follow. */
void lws_sums_sort(struct lws_sums *sums);

void lws_sums_free(struct lws_sums *sums);

#endif
