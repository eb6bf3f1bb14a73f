/* OTLP profiles (opentelemetry-proto 1.11, v1development): an ExportProfilesServiceRequest, as collectors take it. */
#ifndef PROFILER_REPORT_FORMATS_OTLP_H
#define PROFILER_REPORT_FORMATS_OTLP_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * A resource for each process of each recording, with its labels as attributes; in it a profile for each value, over one
 * dictionary. A sample has one value, and no times. profile_id is the same each time, so that a receiver can drop what it has.
 *
 * One process's profiles and the dictionary are held in memory, one at a time.
 *
 * @return false: no memory
 */
bool report_otlp_write(FILE *to, const struct report_model *model);

#endif
