/** The unwind tables of a loaded module, opened for lookups without a walk. */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include "sfb/eh_frame.h"
#include "sfb/section.h"

struct tables {
    struct sfb_section section;
    struct sfb_eh_frame eh_frame;
    bool have_section, have_eh_frame;
};

/* Opens what the module that contains address has. */
void tables_of(const void *address, struct tables *out);

#endif
