/* What a recording has lost, and whether its file is whole. */
#ifndef PROFILER_REPORT_TEXT_LOSSES_H
#define PROFILER_REPORT_TEXT_LOSSES_H

#include <stdio.h>

#include "profiler/report/model/model.h"
#include "profiler/report/text/detail.h"

/* Whether parts of a file are missing, of which it says itself that they were there. */
bool report_is_damaged(const struct sfb_recording_health *health);

/* What was lost, one line each; nothing if nothing was. */
void report_losses_write(FILE *to, const struct report_data *data);

/* That of all recordings of a model together, and what is damaged of their files. @return false: no memory */
bool report_all_losses_write(FILE *to, const struct report_model *model, enum report_detail detail);

/*
 * Whether a file is whole, and where it is not.
 *
 * @return whether it is
 */
bool report_health_write(FILE *to, const char *path, const struct report_data *data);

#endif
