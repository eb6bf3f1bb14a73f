/* One finding a line, then what level 4 compared, and a summary at the end. */
#include <inttypes.h>
#include <stdlib.h>

#include "toolchain/check/report.h"
#include "toolchain/check/report_stats.h"
#include "util/counted.h"
#include "util/foreign.h"

static const char *region_name(enum finding_region region)
{
    switch (region) {
    case IN_SFRAME: return ".sframe";
    case IN_EH_FRAME: return ".eh_frame";
    case IN_FILE: return "";
    }
    return "";
}

/* The text of a finding has names of symbols: they are escaped. */
void report_text_finding(struct report *report, const struct report_file *file,
                         const struct check *c, const struct finding *f)
{
    char code[CHECK_CODE_SIZE], owner[64], *text = report_text_of(c, f);

    check_code_name(code, f->code);
    report_owner(owner, sizeof owner, &f->place);
    foreign_print(report->to, file->name);
    fprintf(report->to, ": %s+0x%" PRIx64 ": %s%s %s: %s: ", region_name(f->place.region),
            f->place.offset, owner, code, check_severity_name(f->severity),
            check_code_text(f->code)->title);
    report->failed |= !text;
    foreign_print(report->to, text ? text : f->text);
    free(text);
    if (f->known)
        fprintf(report->to, " [known: %s]", f->known);
    putc('\n', report->to);
}

static void print_share(FILE *to, const char *name, const char *what, const struct check_share *s)
{
    fprintf(to,
            "%s: %s: %" PRIu64 ", covered %.2f %%, of these equal %.2f %%, beyond SFrame %.2f %%\n",
            name, what, s->all, report_percent_down(s->covered, s->all),
            report_percent_down(s->equal, s->covered), report_percent_down(s->beyond, s->all));
}

static void print_comparison(FILE *to, const char *name, const struct check_comparison *c)
{
    if (!c->done)
        return;
    print_share(to, name, "functions of .eh_frame", &c->functions);
    print_share(to, name, "bytes of their code", &c->bytes);
    print_share(to, name, "rows", &c->rows);
    fprintf(to, "%s: .sframe %s, .eh_frame %" PRIu64 " (%.2f)\n", name,
            counted(c->sframe_size, "bytes").text, c->eh_frame_size,
            c->eh_frame_size > 0 ? (double)c->sframe_size / (double)c->eh_frame_size : 0.0);
}

static void print_explained(FILE *to, const char *name, const struct findings *f)
{
    for (size_t i = 0; i < check_code_count; i++) {
        char code[CHECK_CODE_SIZE];

        check_code_name(code, check_codes[i].code);
        if (f->explained[i] > 0)
            fprintf(to, "%s: explained: %" PRIu64 " of %s %s: %s\n", name, f->explained[i], code,
                    check_severity_name(check_codes[i].severity), check_codes[i].title);
    }
}

static void print_left_out(FILE *to, const char *name, const struct check_result *r)
{
    for (size_t i = 0; i < check_code_count; i++) {
        const uint64_t left = findings_left_out(&r->findings, check_codes[i].code);
        char code[CHECK_CODE_SIZE];

        check_code_name(code, check_codes[i].code);
        if (left > 0)
            fprintf(to, "%s: %" PRIu64 " more of %s %s: %s\n", name, left, code,
                    check_severity_name(check_codes[i].severity), check_codes[i].title);
    }
}

/* Findings left out, and the verdict about known faults. */
static void print_verdict(FILE *to, const char *name, const struct check_result *r)
{
    const struct findings *f = &r->findings;
    const enum findings_verdict verdict = findings_verdict(f);

    if (f->ignored > 0)
        fprintf(to, "%s: %" PRIu64 " ignored by their codes\n", name, f->ignored);
    if (f->passed > 0)
        fprintf(to, "%s: %" PRIu64 " in the baseline\n", name, f->passed);
    if (verdict == VERDICT_GOOD)
        return;
    if (r->producer[0])
        fprintf(to, "%s: made by %s, by the looks of it\n", name, r->producer);
    for (size_t i = 0; verdict == VERDICT_KNOWN && i < KNOWN_MAX && f->known_for[i]; i++)
        fprintf(to, "%s: nothing but known faults of %s\n", name, f->known_for[i]);
}

void report_text_end(struct report *report, const struct report_file *file,
                     const struct check_result *result)
{
    char *name;

    if (result->fault.cause)
        return; /* the command reports it on stderr */
    name = foreign_copy(file->name, FOREIGN_NAME);
    if (!name) {
        report->failed = true;
        return;
    }
    print_left_out(report->to, name, result);
    print_explained(report->to, name, &result->findings);
    print_comparison(report->to, name, &result->comparison);
    if (!result->has_section)
        fprintf(report->to, "%s: no .sframe\n", name);
    report_stats(report->to, name, result);
    print_verdict(report->to, name, result);
    free(name);
}

void report_text_tail(struct report *report)
{
    const struct report_counts *n = &report->counts;

    fprintf(report->to, "%s, %" PRIu64 " with .sframe: %s, %s, %s", counted(n->files, "files").text,
            n->with_section, counted(n->by_severity[CHECK_ERROR], "errors").text,
            counted(n->by_severity[CHECK_WARNING], "warnings").text,
            counted(n->by_severity[CHECK_NOTE], "notes").text);
    if (n->unreadable > 0)
        fprintf(report->to, "; %" PRIu64 " unreadable", n->unreadable);
    fprintf(report->to, "\n");
}
