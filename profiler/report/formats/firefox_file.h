/* A profile of Firefox's profiler in the making: what firefox*.c share. */
#ifndef PROFILER_REPORT_FORMATS_FIREFOX_FILE_H
#define PROFILER_REPORT_FORMATS_FIREFOX_FILE_H

#include <stdio.h>

#include "profiler/report/formats/call_nodes.h"
#include "profiler/report/formats/frames.h"
#include "profiler/report/formats/pieces.h"

/* Categories by index: one is grey, as their readers want it. */
enum report_firefox_category {
    FIREFOX_OTHER,
    FIREFOX_PROGRAM,
    FIREFOX_LIBRARY,
    FIREFOX_MADE,
    FIREFOX_CATEGORIES
};

struct report_firefox {
    FILE *to;
    const struct report_model *model;
    struct report_pieces pieces;
    struct report_call_nodes stacks; /* frames are the model's lines, then marks */
    struct report_frames frames;
    uint32_t *of_row;              /* + 1; 0: not asked yet */
    uint32_t *program;             /* of each module: the program of a process */
    struct report_strings strings; /* escaped */
    uint64_t origin;
};

/* Adds a text. @return false: no memory */
bool report_firefox_string(struct report_firefox *f, const char *text, uint32_t *out);

#endif
