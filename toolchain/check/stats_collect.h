/* The statistics of a check, collected while it runs. */
#ifndef TOOLCHAIN_CHECK_STATS_COLLECT_H
#define TOOLCHAIN_CHECK_STATS_COLLECT_H

#include "toolchain/check/check.h"

/* Adds a function. */
void stats_note(struct check *c, uint64_t start, uint64_t end, uint64_t covered);

/* Names the functions, and measures the section. */
void stats_finish(struct check *c);

void stats_free(struct check_stats *stats);

#endif
