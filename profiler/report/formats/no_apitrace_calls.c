/* A build without libsnappy writes no traces for apitrace. */
#include "profiler/report/formats/apitrace_calls.h"

const char *report_apitrace_calls_refuses(const struct report_model *model)
{
    (void)model;
    return "this build does not write it: CMake did not find snappy. On Debian: apt install "
           "libsnappy-dev";
}

bool report_apitrace_calls_write(FILE *to, const struct report_model *model)
{
    (void)to;
    (void)model;
    return false; /* it was refused */
}
