/*
 * Findings that somebody has seen and lives with, by their fingerprints: a file of lines.
 *
 *     # sfb check: baseline 1
 *     0x1d2e5a0b63c4f789 SF0501 libx.so: at 0x1039 ...
 *
 * What stands behind the fingerprint is for people.
 */
#ifndef CHECK_BASELINE_H
#define CHECK_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "findings.h"

struct baseline {
    uint64_t *list; /* ascending */
    size_t count;
};

/*
 * Reads a text.
 *
 * @param line  written on failure: the line that is none; 0: no memory
 */
bool baseline_read(struct baseline *out, const char *text, size_t size, size_t *line);

void baseline_free(struct baseline *baseline);

bool baseline_has(const struct baseline *baseline, uint64_t fingerprint);

void baseline_write_head(FILE *to);
void baseline_write(FILE *to, const char *name, const struct finding *finding,
                    uint64_t fingerprint);

#endif
