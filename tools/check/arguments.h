/* The options of `sfb check`. */
#ifndef CHECK_ARGUMENTS_H
#define CHECK_ARGUMENTS_H

#include "../tool.h"
#include "report.h"

struct arguments {
    struct check_options options; /* but for its policy: */
    struct check_policy policy;
    enum report_format format;
    uint64_t limit, jobs;
    const char *baseline, *write_baseline, *explain;
    bool have_vma, extract;
    uint64_t extract_fde;
    const char *wrong;  /* an argument that is not what its option takes; NULL: there is none */
    const char *wanted; /* what it should be */
};

extern const struct option_group arguments_options[];

/*
 * Reads them all; optind is then the first file.
 *
 * @return false: the command ends with *exit_status
 */
bool arguments_read(struct arguments *out, enum tool_exit *exit_status,
                    const struct tool_command *command, int argc, char **argv);

#endif
