/* Programs that make code while they run, and their options that help profilers. */
#ifndef REPORT_RUNTIME_H
#define REPORT_RUNTIME_H

#include <stdio.h>

#include "report/data.h"

/* @return the option by which such code has names; NULL: the program is not known */
const char *report_runtime_names(const struct report_process *process);

/* @return the option by which callers of such code are found; NULL: the program is not known, or needs none */
const char *report_runtime_callers(const struct report_process *process);

/* Writes the last part of a program's path. */
void report_runtime_program_put(FILE *to, const struct report_process *process);

#endif
