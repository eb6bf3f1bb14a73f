/* A trace of apitrace, as a recording of its calls: `sfb report --apitrace FILE`. */
#ifndef CLI_REPORT_APITRACE_INPUT_H
#define CLI_REPORT_APITRACE_INPUT_H

#include "cli/tool.h"
#include "profiler/report/model/namer.h"

struct apitrace_input; /* its names */

/*
 * Makes a recording in memory.
 *
 * @param out          written with a recording: to be closed behind the last use of its names
 * @param exit_status  written after a complaint
 * @return a descriptor of it, to be closed; -1: the file is no such file, or after a complaint
 */
int report_apitrace_open(struct apitrace_input **out, const char *path,
                         enum tool_exit *exit_status);

struct report_namer report_apitrace_namer(const struct apitrace_input *input);

/* @param input  may be NULL */
void report_apitrace_close(struct apitrace_input *input);

#endif
