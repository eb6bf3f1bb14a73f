/* Where samples are, in a pprof file: mappings, locations, functions. */
#ifndef REPORT_PPROF_PLACES_H
#define REPORT_PPROF_PLACES_H

#include "report/formats/pprof_file.h"

/* Writes those that samples have used. */
void report_pprof_put_places(struct report_pprof *p);

#endif
