/* The service that a recording is of. */
#ifndef PROFILER_REPORT_FORMATS_SERVICE_H
#define PROFILER_REPORT_FORMATS_SERVICE_H

#include "profiler/report/model/data.h"
#include "util/base_name.h"

/* @return its label `service`, else the base name of the recorded command; "" */
static inline const char *report_service(const struct report_data *data)
{
    const char *service = labels_value(&data->labels, "service");

    return service ? service : sfb_base_name(data->start.command ? data->start.command : "");
}

#endif
