/* One input of a merged recording: merge.h. */
#ifndef PROFILER_REPORT_MODEL_MERGE_INPUT_H
#define PROFILER_REPORT_MODEL_MERGE_INPUT_H

#include "profiler/report/model/data.h"

struct report_merge; /* of report_merge_open() */

/* Adds an input, which is of CPU time. @return SFB_OK; as sfb_recording_put_sample() */
enum sfb_status report_merge_add(struct report_merge *merge, const struct report_data *data);

#endif
