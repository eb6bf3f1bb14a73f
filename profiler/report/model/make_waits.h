/* The waits of a recording, in the model: each is a sample whose innermost frame is what the thread waits in. */
#ifndef PROFILER_REPORT_MODEL_MAKE_WAITS_H
#define PROFILER_REPORT_MODEL_MAKE_WAITS_H

#include "profiler/report/model/maker.h"

/* Values of rows of time. */
enum { REPORT_VALUE_SAMPLES, REPORT_VALUE_TIME };

/* Finds out what `choice.time_value` means for a recording, and names the values. */
void report_make_time_type(struct report_model *model, const struct report_data *data);

/* Finds the idle threads of the maker's recording: before its samples are taken. @return false: no memory */
bool report_make_idle(struct report_maker *maker);

/* Adds the waits of the maker's recording. @return false: no memory */
bool report_make_waits(struct report_maker *maker);

#endif
