/* Lines of source files, by number: the file asked for last is kept. */
#ifndef PROFILER_REPORT_TEXT_SOURCE_LINES_H
#define PROFILER_REPORT_TEXT_SOURCE_LINES_H

#include "profiler/report/model/model.h"

/* Zeroed: empty. */
struct report_source_lines {
    char *path, *bytes; /* bytes NULL: the file is not here */
    size_t size;
    size_t *starts; /* of lines, and the end of the last one */
    uint32_t count;
};

/*
 * @param line  from 1 on
 * @param size  written, without the end of the line
 * @return NULL: it is not known; else good until the next call for another file
 */
const char *report_source_line(struct report_source_lines *lines, const struct report_model *model,
                               const char *path, uint32_t line, size_t *size);

void report_source_lines_free(struct report_source_lines *lines);

#endif
