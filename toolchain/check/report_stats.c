#include "toolchain/check/report_stats.h"

#include <inttypes.h>

#include "toolchain/check/report.h"
#include "util/counted.h"
#include "util/foreign.h"

static double per(uint64_t bytes, uint64_t count)
{
    return count > 0 ? (double)bytes / (double)count : 0.0;
}

static void print_cover(FILE *to, uint64_t functions, uint64_t functions_covered, uint64_t bytes,
                        uint64_t bytes_covered)
{
    fprintf(to, ": %s, covered %" PRIu64 " (%.2f %%); %s, covered %" PRIu64 " (%.2f %%)\n",
            counted(functions, "functions").text, functions_covered,
            report_percent_down(functions_covered, functions), counted(bytes, "bytes").text,
            bytes_covered, report_percent_down(bytes_covered, bytes));
}

static void print_sizes(FILE *to, const char *name, const struct check_result *r)
{
    const struct check_stats *s = &r->stats;
    const uint64_t size = s->header_size + s->entries_size + s->rows_size;

    if (size == 0)
        return;
    fprintf(to,
            "%s: .sframe %s: header %" PRIu64 ", entries %" PRIu64 ", rows %" PRIu64
            "; %.1f bytes a function, %.1f a row",
            name, counted(size, "bytes").text, s->header_size, s->entries_size, s->rows_size,
            per(size, r->functions), per(s->rows_size, r->rows));
    if (r->comparison.done)
        fprintf(to, "; %.2f of .eh_frame", per(size, r->comparison.eh_frame_size));
    fprintf(to, "\n");
}

void report_stats(FILE *to, const char *name, const struct check_result *result)
{
    const struct check_coverage *all = &result->coverage;
    const struct check_stats *s = &result->stats;

    if (!s->done)
        return;
    print_sizes(to, name, result);
    fprintf(to, "%s: code", name);
    print_cover(to, all->functions, all->functions_covered, all->bytes, all->bytes_covered);
    for (size_t i = 0; i < s->section_count; i++) {
        const struct stats_section *n = &s->sections[i];

        fprintf(to, "%s:   ", name);
        foreign_print(to, n->name);
        print_cover(to, n->functions, n->functions_covered, n->bytes, n->bytes_covered);
    }
    for (size_t i = 0; i < s->uncovered_count; i++) {
        const struct stats_function *f = &s->uncovered[i];

        fprintf(to, "%s:   without a row: %s of %" PRIu64 " at ", name,
                counted(f->missing, "bytes").text, f->bytes);
        foreign_print(to, f->place);
        fprintf(to, "\n");
    }
}
