/* The dictionary of OTLP profiles. */
#ifndef PROFILER_REPORT_FORMATS_OTLP_DICTIONARY_H
#define PROFILER_REPORT_FORMATS_OTLP_DICTIONARY_H

#include "profiler/report/formats/otlp_file.h"

/* Writes it, with all that was numbered. */
void report_otlp_write_dictionary(struct report_otlp *o);

#endif
