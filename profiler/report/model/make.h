/* From recordings to the model. */
#ifndef PROFILER_REPORT_MODEL_MAKE_H
#define PROFILER_REPORT_MODEL_MAKE_H

#include "profiler/report/model/model.h"

/*
 * @param sources  borrowed for as long as the model lives
 * @param choice   NULL: everything
 * @return false: no memory; out is to be freed in any case
 */
bool report_model_make(struct report_model *out, const struct report_source *sources, size_t count,
                       const struct report_choice *choice);

#endif
