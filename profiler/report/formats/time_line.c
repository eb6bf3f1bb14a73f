#include "profiler/report/formats/time_line.h"

#include <inttypes.h>

const char *report_time_line_refuses(const struct report_model *model)
{
    return model->heap ? "this is of a heap: it is for CPU time" : NULL;
}

void report_time_line_put(FILE *to, uint64_t ns, unsigned digits)
{
    uint64_t unit = 1;

    for (unsigned i = 0; i < digits; i++)
        unit *= 10;
    if (ns % unit == 0)
        fprintf(to, "%" PRIu64, ns / unit);
    else
        fprintf(to, "%" PRIu64 ".%0*" PRIu64, ns / unit, (int)digits, ns % unit);
}
