#include "profiler/report/formats/pprof_file.h"

#include <stdlib.h>
#include <string.h>

#include "util/foreign.h"

bool report_pprof_numbers_make(struct report_pprof_numbers *n, size_t count)
{
    n->id_of = calloc(count + 1, sizeof *n->id_of);
    n->order = calloc(count + 1, sizeof *n->order);
    return n->id_of && n->order;
}

void report_pprof_numbers_free(struct report_pprof_numbers *n)
{
    free(n->id_of);
    free(n->order);
}

uint32_t report_pprof_id(struct report_pprof_numbers *n, uint32_t thing)
{
    if (n->id_of[thing] == 0) {
        n->order[n->count] = thing;
        n->id_of[thing] = ++n->count;
    }
    return n->id_of[thing];
}

uint32_t report_pprof_printed(struct report_pprof *p, const char *text)
{
    uint32_t string = 0;

    p->failed |= !report_strings_add(&p->strings, text, &string);
    return string;
}

uint32_t report_pprof_text(struct report_pprof *p, const char *text)
{
    char *printable = foreign_copy(text, FOREIGN_NAME);
    const uint32_t string = printable ? report_pprof_printed(p, printable) : 0;

    p->failed |= !printable;
    free(printable);
    return string;
}

uint32_t report_pprof_string(struct report_pprof *p, uint32_t string)
{
    if (p->string_of[string] == 0)
        p->string_of[string] = report_pprof_text(p, report_text(p->model, string)) + 1;
    return p->string_of[string] - 1;
}

void report_pprof_flush(struct report_pprof *p)
{
    p->failed |= p->whole.failed;
    report_gzip_put(p->gzip, p->whole.at, p->whole.size);
    report_proto_clear(&p->whole);
}

void report_pprof_put(struct report_pprof *p, unsigned field)
{
    report_proto_message(&p->whole, field, &p->message);
    report_pprof_flush(p);
}

/* --- All of it --------------------------------------------------------------------------------- */

bool report_pprof_tables_begin(struct report_pprof *p, const struct report_model *model)
{
    *p = (struct report_pprof){ .model = model,
                                .string_of =
                                    calloc(model->strings.all.count + 1, sizeof *p->string_of),
                                .extents = calloc(model->modules.count + 1, sizeof *p->extents) };
    return report_pprof_numbers_make(&p->mappings, model->modules.count) &&
           report_pprof_numbers_make(&p->locations, model->locations.count + MARKS) &&
           report_pprof_numbers_make(&p->functions, model->functions.count + MARKS) &&
           p->string_of && p->extents;
}

void report_pprof_begin(struct report_pprof *p, struct report_gzip *gzip,
                        const struct report_model *model)
{
    const bool good = report_pprof_tables_begin(p, model);

    p->gzip = gzip;
    p->failed = !good || !gzip;
}

void report_pprof_end(struct report_pprof *p)
{
    sfb_bytes_free(&p->whole);
    sfb_bytes_free(&p->message);
    sfb_bytes_free(&p->part);
    report_pprof_numbers_free(&p->mappings);
    report_pprof_numbers_free(&p->locations);
    report_pprof_numbers_free(&p->functions);
    report_strings_free(&p->strings);
    free(p->string_of);
    free(p->extents);
}
