/* What recordings are of: the first lines of a report, of CPU time and of heaps. */
#ifndef PROFILER_REPORT_TEXT_START_H
#define PROFILER_REPORT_TEXT_START_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/* Each recording: the command, when and how it was recorded, how it ended. */
void report_starts_write(FILE *to, const struct report_model *model);

/* A command's words, separated by '\0', as a shell reads them; what could move a cursor is escaped. */
void report_command_write(FILE *to, const char *words, size_t size);

/* Which part is shown; nothing if all is. */
void report_choice_write(FILE *to, const struct report_choice *choice);

/* Writes " in 1 process and 2 threads", of the wanted ones. */
void report_members_write(FILE *to, const struct report_model *model);

/* Which recordings have no end. */
void report_unfinished_write(FILE *to, const struct report_model *model);

#endif
