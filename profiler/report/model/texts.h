/* Access to source files: the command looks for them. */
#ifndef PROFILER_REPORT_MODEL_TEXTS_H
#define PROFILER_REPORT_MODEL_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_texts {
    void *user;
    /*
     * @param path     as the debug information has it
     * @param changed  written: it was written to later than `time`, ns since 1970
     * @return the file's bytes and a '\0' behind them, to be freed; NULL: it is not here
     */
    char *(*read)(void *user, const char *path, uint64_t time, size_t *size, bool *changed);
};

#endif
