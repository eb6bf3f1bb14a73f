/*
 * Reports of the crash handler: docs/FORMATS.md, "Crash reports". What stands around them, such as
 * other lines of a log, is passed over.
 */
#ifndef CLI_CRASH_REPORT_H
#define CLI_CRASH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/tool.h"
#include "symbols/loaded_modules.h"
#include "util/input.h"

/* Backtrace of a report: the bytes of its lines. */
struct crash_cbf {
    uint8_t *bytes;
    size_t size;
    bool cut; /* a line was unreadable: it ends before it */
};

/* A block of the heap that a register points into. */
struct crash_block {
    char *text;           /* which register, and where; one printable line */
    struct crash_cbf cbf; /* of its allocation; size 0: unknown, or as of an earlier block */
};

struct crash_report {
    size_t start;   /* offset of its first line in the input */
    char *headline; /* the fault and its thread, without the prefix; one printable line */
    struct crash_cbf cbf;
    struct crash_block *blocks;
    size_t block_count;
    struct loaded_module *modules;
    size_t module_count;
    char *truncated;   /* why the walk stopped, as the report says; printable; NULL: it does not */
    bool pc_is_behind; /* the first pc is that behind the instruction at fault */
    bool complete;     /* the report ends as it should */
};

/*
 * Reads the next report. A line that cannot be read is passed over: what else is there is worth
 * having.
 *
 * @param offset       in the input, where to look from; moved behind what was read
 * @param exit_status  written after a complaint, which is of the first such line
 * @return whether there is one
 */
bool crash_report_read(struct crash_report *out, const struct input *input, size_t *offset,
                       enum tool_exit *exit_status);

void crash_report_free(struct crash_report *report);

#endif
