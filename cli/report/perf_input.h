/* A file of `perf record`, as a recording: `sfb report --perf FILE`. */
#ifndef CLI_REPORT_PERF_INPUT_H
#define CLI_REPORT_PERF_INPUT_H

#include "cli/tool.h"

/*
 * Makes a recording in memory.
 *
 * @param exit_status  written after a complaint
 * @return a descriptor of it, to be closed; -1: the file is no such file, or after a complaint
 */
int report_perf_open(const char *path, enum tool_exit *exit_status);

#endif
