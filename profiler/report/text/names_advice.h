/* How the names of a module can be had on this machine: the package with its debug information, or where to look. */
#ifndef PROFILER_REPORT_TEXT_NAMES_ADVICE_H
#define PROFILER_REPORT_TEXT_NAMES_ADVICE_H

#include <stddef.h>
#include <stdint.h>

enum report_advice {
    REPORT_ADVICE_NONE,
    REPORT_ADVICE_PACKAGE, /* the text is the name of a package */
    REPORT_ADVICE_TEXT     /* the text is a sentence without its end */
};

/* Room for a text. */
enum { REPORT_ADVICE_SIZE = 512 };

/* @param path  as the process had it; foreign, and the text has parts of it */
enum report_advice report_names_advice(const char *path, const uint8_t *build_id,
                                       size_t build_id_size, char out[REPORT_ADVICE_SIZE]);

#endif
