/* The files of a run of `sfb check`: read, checked, told. */
#ifndef CLI_CHECK_FILES_H
#define CLI_CHECK_FILES_H

#include "cli/tool.h"
#include "toolchain/check/report.h"

struct run {
    struct check_options options; /* take, take_data and policy are set for each file */
    struct check_policy policy;
    struct report report;
    enum tool_exit exit_status;
    bool no_memory;
};

/* Checks a file, or all members of an archive. Complaints stand on stderr and in the report. */
void run_file(struct run *run, const char *path);

/* Tells of a file that was not checked. */
void run_unreadable(struct run *run, const char *path, const struct object_fault *fault);

/*
 * Checks files in processes of their own, so many at a time. What they say stands in the order of
 * the paths. A check that is ended by a signal is a file that cannot be read.
 *
 * @param paths  NULL behind the last one
 */
void run_jobs(struct run *run, char **paths, size_t jobs);

#endif
