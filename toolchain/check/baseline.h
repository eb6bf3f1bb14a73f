/*
 * Accepted findings, by fingerprint: a text file, one a line.
 *
 *     # sfb check: baseline 1
 *     0x1d2e5a0b63c4f789 SF0501 libx.so: at 0x1039 ...
 *
 * Text behind the fingerprint is for people and is ignored.
 */
#ifndef TOOLCHAIN_CHECK_BASELINE_H
#define TOOLCHAIN_CHECK_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "toolchain/check/finding.h"

struct baseline {
    uint64_t *list; /* ascending */
    size_t count;
};

/*
 * Parses the text of a baseline.
 *
 * @param line  written on failure: number of the malformed line; 0: no memory
 */
bool baseline_read(struct baseline *out, const char *text, size_t size, size_t *line);

void baseline_free(struct baseline *baseline);

bool baseline_has(const struct baseline *baseline, uint64_t fingerprint);

void baseline_write_head(FILE *to);
void baseline_write(FILE *to, const char *name, const struct finding *finding,
                    uint64_t fingerprint);

#endif
