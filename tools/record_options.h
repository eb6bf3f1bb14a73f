/* The options of `sfb record`. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include "options.h"

enum record_option {
    OPTION_CPU = OPTION_FIRST,
    OPTION_HEAP,
    OPTION_HEAP_RATE,
    OPTION_OUTPUT,
    OPTION_FORCE,
    OPTION_DURATION,
    OPTION_NO_CHILDREN,
    OPTION_MAX_SIZE,
    OPTION_PROGRESS,
    OPTION_QUIET,
    OPTION_RATE,
    OPTION_ENGINE,
    OPTION_MAX_FRAMES,
    OPTION_HEAP_MMAP,
    OPTION_HEAP_WAIT,
    OPTION_AGGREGATE,
    OPTION_SNAPSHOT
};

extern const struct option_group record_options[];
extern const struct option_habits record_habits;

#endif
