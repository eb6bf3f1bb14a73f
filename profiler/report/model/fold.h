/*
 * Folding: a stack of a heap begins at the first frame of the program's own code. Frames farther in (the C library,
 * std::, allocators, xmalloc()) are left out by a list of patterns, which the user can replace. A stack without a frame
 * of its own code stays whole.
 *
 * A list has lines `function:PATTERN` and `module:PATTERN`, and comments with `#`. Patterns are as in pattern.h.
 */
#ifndef PROFILER_REPORT_MODEL_FOLD_H
#define PROFILER_REPORT_MODEL_FOLD_H

#include "profiler/report/model/model.h"

struct report_fold_pattern {
    char *pattern;
    bool of_modules; /* else of functions */
};

struct report_fold {
    REPORT_ARRAY(struct report_fold_pattern) all;
};

/* The text of the usual list, with a '\0' behind it. */
extern const char report_fold_usual[];

/*
 * Reads the text of a list.
 *
 * @param out   to be freed in any case
 * @param line  written: the first invalid line; 0: no memory
 * @return false: invalid line, or no memory
 */
bool report_fold_read(struct report_fold *out, const char *text, size_t *line);

/* The same of a file. @param line  0: errno says why it cannot be read */
bool report_fold_read_file(struct report_fold *out, const char *path, size_t *line);

/* Folds all stacks of a model. @return false: no memory */
bool report_fold_apply(struct report_model *model, const struct report_fold *fold);

void report_fold_free(struct report_fold *fold);

#endif
