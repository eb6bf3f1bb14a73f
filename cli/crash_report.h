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

struct crash_report {
    size_t start;   /* offset of its first line in the input */
    char *headline; /* the fault and its thread, without the prefix; one printable line */
    uint8_t *cbf;
    size_t cbf_size;
    bool cbf_cut; /* a line was unreadable: the CBF ends before it */
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
