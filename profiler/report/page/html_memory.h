/* Memory of a recorded heap over time: what the allocators have in use and hold, and what is resident. */
#ifndef PROFILER_REPORT_PAGE_HTML_MEMORY_H
#define PROFILER_REPORT_PAGE_HTML_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profiler/report/model/model.h"

enum html_memory_kind {
    HTML_MEMORY_USED,
    HTML_MEMORY_HELD,
    HTML_MEMORY_RESIDENT,
    HTML_MEMORY_KINDS
};

#define HTML_MEMORY_UNKNOWN UINT64_MAX

/* Bytes at the end of each step, of all processes together. Unknown: of one of them it is not known. */
struct html_memory {
    uint64_t *steps[HTML_MEMORY_KINDS]; /* NULL: not known in any step */
    uint32_t count;
    uint64_t step_ns;
};

/*
 * Sums up the states of all chosen processes.
 *
 * @param out  its count and step_ns are set; to be freed in any case
 * @return false: no memory
 */
bool html_memory_make(struct html_memory *out, const struct report_model *model);

/* Writes `,"memory":{...}`, with -1 for unknown, if anything is known. */
void html_memory_write(FILE *to, const struct html_memory *memory);

void html_memory_free(struct html_memory *memory);

#endif
