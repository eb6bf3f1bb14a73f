/* What a caller knows of this machine: how the names of a module can be had here. */
#ifndef REPORT_ADVISOR_H
#define REPORT_ADVISOR_H

#include <stddef.h>
#include <stdint.h>

enum report_advice {
    REPORT_ADVICE_NONE,
    REPORT_ADVICE_PACKAGE, /* the text is the name of a package */
    REPORT_ADVICE_TEXT     /* the text is a sentence without its end */
};

/* Room for a text. */
enum { REPORT_ADVICE_SIZE = 512 };

struct report_advisor {
    void *user;
    /* @param path  as the process had it; foreign */
    enum report_advice (*names_of)(void *user, const char *path, const uint8_t *build_id,
                                   size_t build_id_size, char out[REPORT_ADVICE_SIZE]);
};

#endif
