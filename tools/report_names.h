/* Names for a report: the modules of a recording, looked for here as `sfb symbolize` does. */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include <stdbool.h>

#include "object/demangle.h"
#include "report/model.h"
#include "symbols.h"

struct report_names; /* opaque */

/*
 * @param symbols  NULL: no file is looked for; functions are offsets in modules
 * @return NULL: no memory
 */
struct report_names *report_names_open(struct symbols *symbols, enum object_name_style style);

/* What the model asks. */
struct report_namer report_names_namer(struct report_names *names);

void report_names_close(struct report_names *names);

#endif
