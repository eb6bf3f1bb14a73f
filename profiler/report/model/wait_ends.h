/* Waits that are recorded in parts: the last part has what ended the wait. */
#ifndef PROFILER_REPORT_MODEL_WAIT_ENDS_H
#define PROFILER_REPORT_MODEL_WAIT_ENDS_H

#include "profiler/report/model/data.h"

/* Whether it is known what ended a wait. @param wait  its last part */
static inline bool report_wait_has_waker(const struct report_data *data,
                                         const struct report_wait *wait)
{
    return wait->waker != REPORT_NONE || data->calls.all.at[wait->waker_name][0] != '\0';
}

/* @return of each wait, the index of its last part; itself where it is whole. For free(); NULL: no memory */
uint32_t *report_wait_ends(const struct report_data *data);

#endif
