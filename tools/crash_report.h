/*
 * Reports of the crash handler: docs/FORMATS.md, "Crash reports". What stands around them, such as
 * other lines of a log, is passed over.
 */
#ifndef CRASH_REPORT_H
#define CRASH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input.h"
#include "symbols.h"

struct crash_report {
    char *headline; /* what happened to whom, without the prefix; one printable line */
    uint8_t *cbf;
    size_t cbf_size;
    struct symbols_module *modules;
    size_t module_count;
    bool pc_is_behind; /* the first pc is that behind the instruction at fault */
    bool complete;     /* the report ends as it should */
};

/*
 * Reads the next report.
 *
 * @param offset  in the input, where to look from; moved behind what was read
 * @return whether there is one; false after a complaint, too, and then *exit_status is not
 * TOOL_DONE
 */
bool crash_report_read(struct crash_report *out, const struct input *input, size_t *offset,
                       enum tool_exit *exit_status);

void crash_report_free(struct crash_report *report);

#endif
