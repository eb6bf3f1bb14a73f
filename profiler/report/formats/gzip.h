/* A gzip file in the making. */
#ifndef PROFILER_REPORT_FORMATS_GZIP_H
#define PROFILER_REPORT_FORMATS_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct report_gzip; /* opaque */

/*
 * Equal bytes give equal files: no time and no name is in it.
 *
 * @return NULL: no memory
 */
struct report_gzip *report_gzip_open(FILE *to);

void report_gzip_put(struct report_gzip *gzip, const void *bytes, size_t size);

/* Ends the file, and frees what it took. `to` stays open. @param gzip  NULL does nothing */
void report_gzip_close(struct report_gzip *gzip);

#endif
