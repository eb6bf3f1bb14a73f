/* Where samples are, in a pprof file: mappings, locations, functions. */
#ifndef PROFILER_REPORT_FORMATS_PPROF_PLACES_H
#define PROFILER_REPORT_FORMATS_PPROF_PLACES_H

#include "profiler/report/formats/pprof_file.h"

/* Writes the mappings, locations and functions that samples refer to. */
void report_pprof_put_places(struct report_pprof *p);

#endif
