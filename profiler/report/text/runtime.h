/* Programs that make code while they run, and their options that help profilers. */
#ifndef PROFILER_REPORT_TEXT_RUNTIME_H
#define PROFILER_REPORT_TEXT_RUNTIME_H

#include <stdio.h>

#include "profiler/report/model/data.h"

/* Whether a program is one of them. */
bool report_runtime_is_known(const struct report_process *process);

/* @return the option by which such code has names; NULL: not known, or already given */
const char *report_runtime_names(const struct report_process *process);

/* @return the option by which callers of such code are found; NULL: no such option, or already given */
const char *report_runtime_callers(const struct report_process *process);

/* Writes the last part of a program's path. */
void report_runtime_program_put(FILE *to, const struct report_process *process);

#endif
