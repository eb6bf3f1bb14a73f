/* What live.libunwind_later sees of the library that stands for a later libunwind. */
#ifndef LIVE_LIBS_LATER_LIBUNWIND_H
#define LIVE_LIBS_LATER_LIBUNWIND_H

#include <libunwind.h>

/* Members by their index; those behind LATER_MASK are in no version yet. */
enum { LATER_FILE_NAME = 8, LATER_IP_RANGE, LATER_MASK, LATER_UNKNOWN, LATER_MEMBERS = 64 };

struct later_libunwind {
    unsigned missing; /* members that are NULL */
    unsigned unknown; /* which one a step calls */
    unsigned steps;
    int file_name, ip_range; /* what the members said */
    unw_word_t mask;
};

extern struct later_libunwind later_libunwind;

#endif
