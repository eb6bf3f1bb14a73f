/* The options of `sfb record`. */
#ifndef CLI_RECORD_RECORD_OPTIONS_H
#define CLI_RECORD_RECORD_OPTIONS_H

#include "cli/option_table.h"

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
    OPTION_PID,
    OPTION_ALL,
    OPTION_DELAY,
    OPTION_KERNEL,
    OPTION_PRINT_AGENT,
    OPTION_RATE,
    OPTION_ENGINE,
    OPTION_MAX_FRAMES,
    OPTION_HEAP_MMAP,
    OPTION_HEAP_WAIT,
    OPTION_AGGREGATE,
    OPTION_SNAPSHOT,
    OPTION_TEMPORARY_WITHIN,
    OPTION_FAIL_ABOVE,
    OPTION_FAIL_ON_LEAK,
    OPTION_SUPPRESSIONS
};

extern const struct option_group record_options[];
extern const struct option_habits record_habits;

#endif
