/* From recordings to the model. */
#ifndef PROFILER_REPORT_MODEL_MAKE_H
#define PROFILER_REPORT_MODEL_MAKE_H

#include "profiler/report/model/model.h"

/* Reads recordings one by one, as they are merged. */
struct report_feed {
    /* Fills sources[source]. @return false: the model is not made */
    bool (*open)(void *user, size_t source);
    /* Its samples and stacks may be released: of a heap they are needed as long as the model is. */
    void (*merged)(void *user, size_t source);
    void *user;
};

/*
 * @param sources  borrowed for as long as the model lives
 * @param choice   NULL: everything
 * @return false: no memory; out is to be freed in any case
 */
bool report_model_make(struct report_model *out, const struct report_source *sources, size_t count,
                       const struct report_choice *choice);

/* The same of sources that are there when they are needed. @return false: no memory, or feed->open() gave false */
bool report_model_make_from(struct report_model *out, const struct report_source *sources,
                            size_t count, const struct report_choice *choice,
                            const struct report_feed *feed);

#endif
