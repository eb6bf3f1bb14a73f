/* Programs that make code while they run, and their options that help profilers. */
#ifndef REPORT_RUNTIME_H
#define REPORT_RUNTIME_H

#include <stdio.h>

#include "report/data.h"

/* Whether a program is one of them. */
bool report_runtime_is_known(const struct report_process *process);

/* @return the option by which such code has names; NULL: it is not known, or was given */
const char *report_runtime_names(const struct report_process *process);

/* @return the option by which callers of such code are found; NULL: there is none, or it was given */
const char *report_runtime_callers(const struct report_process *process);

/* Writes the last part of a program's path. */
void report_runtime_program_put(FILE *to, const struct report_process *process);

#endif
