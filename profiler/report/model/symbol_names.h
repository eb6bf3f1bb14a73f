/* Names for a report: the modules of a recording, looked for here as `sfb symbolize` does. */
#ifndef PROFILER_REPORT_MODEL_SYMBOL_NAMES_H
#define PROFILER_REPORT_MODEL_SYMBOL_NAMES_H

#include <stdbool.h>

#include "profiler/report/model/namer.h"
#include "symbols/demangle.h"
#include "symbols/symbols.h"

struct report_symbol_names; /* opaque */

/*
 * @param symbols  NULL: no file is looked for; functions are offsets in modules
 * @return NULL: no memory
 */
struct report_symbol_names *report_symbol_names_open(struct symbols *symbols,
                                                     enum object_name_style style);

/* As the model asks it. */
struct report_namer report_symbol_names_namer(struct report_symbol_names *names);

void report_symbol_names_close(struct report_symbol_names *names);

#endif
