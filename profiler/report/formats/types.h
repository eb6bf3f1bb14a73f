/* Which of a model's values a file has. */
#ifndef PROFILER_REPORT_FORMATS_TYPES_H
#define PROFILER_REPORT_FORMATS_TYPES_H

#include "profiler/report/model/model.h"

/*
 * What is temporary is not known of a sampled heap: the thread's next event is one of a block that was no sample.
 *
 * @return how many, from the first one on
 */
static inline size_t report_known_types(const struct report_model *model)
{
    return model->heap && model->estimated && model->main < REPORT_TEMPORARY_OBJECTS
               ? REPORT_TEMPORARY_OBJECTS
               : model->type_count;
}

#endif
