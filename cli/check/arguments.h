/* The options of `sfb check`. */
#ifndef CLI_CHECK_ARGUMENTS_H
#define CLI_CHECK_ARGUMENTS_H

#include "cli/tool.h"
#include "toolchain/check/report.h"

struct arguments {
    struct check_options options; /* but for its policy: */
    struct check_policy policy;
    enum report_format format;
    uint64_t limit, jobs;
    const char *baseline, *write_baseline, *explain;
    bool have_vma, extract;
    uint64_t extract_fde;
    const char *wrong;  /* the first invalid argument; NULL: all are valid */
    const char *wanted; /* the kind of argument expected there */
    char readers[256];  /* what --reader takes, for `wanted` */
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
