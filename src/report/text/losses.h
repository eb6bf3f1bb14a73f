/* What a recording has lost, and whether its file is whole. */
#ifndef REPORT_LOSSES_H
#define REPORT_LOSSES_H

#include <stdio.h>

#include "report/model.h"

/* What was lost, one line each; nothing if nothing was. */
void report_losses_write(FILE *to, const struct report_data *data);

/* That of all recordings of a model together. @return false: no memory */
bool report_all_losses_write(FILE *to, const struct report_model *model);

/*
 * Whether a file is whole, and where it is not.
 *
 * @return whether it is
 */
bool report_health_write(FILE *to, const char *path, const struct report_data *data);

#endif
