/* One finding a line, then what level 4 compared, and a summary at the end. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "object/foreign.h"
#include "report.h"

static const char *region_name(enum finding_region region)
{
    switch (region) {
    case IN_SFRAME: return ".sframe";
    case IN_EH_FRAME: return ".eh_frame";
    case IN_FILE: return "";
    }
    return "";
}

/* The text of a finding has names of symbols in it. */
static void print_finding(const char *name, const struct finding *f)
{
    const struct check_code_text *text = check_code_text(f->code);
    char code[CHECK_CODE_SIZE], owner[64];

    check_code_name(code, f->code);
    report_owner(owner, sizeof owner, &f->place);
    printf("%s: %s+0x%" PRIx64 ": %s%s %s: %s: ", name, region_name(f->place.region),
           f->place.offset, owner, code, check_severity_name(text->severity), text->title);
    foreign_print(stdout, f->text);
    putchar('\n');
}

/* Rounded down: 100 is said of all of them only. */
static double percent(uint64_t part, uint64_t all)
{
    return all > 0 ? floor(10000.0 * (double)part / (double)all) / 100 : 100.0;
}

static void print_share(const char *name, const char *what, const struct check_share *s)
{
    printf("%s: %s: %" PRIu64 ", covered %.2f %%, of these equal %.2f %%, beyond SFrame %.2f %%\n",
           name, what, s->all, percent(s->covered, s->all), percent(s->equal, s->covered),
           percent(s->beyond, s->all));
}

static void print_comparison(const char *name, const struct check_comparison *c)
{
    if (!c->done)
        return;
    print_share(name, "functions of .eh_frame", &c->functions);
    print_share(name, "bytes of their code", &c->bytes);
    print_share(name, "rows", &c->rows);
    printf("%s: .sframe %" PRIu64 " bytes, .eh_frame %" PRIu64 " (%.2f)\n", name, c->sframe_size,
           c->eh_frame_size,
           c->eh_frame_size > 0 ? (double)c->sframe_size / (double)c->eh_frame_size : 0.0);
}

static void print_result(const char *name, const struct check_result *r)
{
    for (size_t i = 0; i < r->findings.count; i++)
        print_finding(name, &r->findings.list[i]);
    for (size_t i = 0; i < check_code_count; i++) {
        const uint64_t left = findings_left_out(&r->findings, check_codes[i].code);
        char code[CHECK_CODE_SIZE];

        check_code_name(code, check_codes[i].code);
        if (left > 0)
            printf("%s: %" PRIu64 " more of %s %s: %s\n", name, left, code,
                   check_severity_name(check_codes[i].severity), check_codes[i].title);
    }
    print_comparison(name, &r->comparison);
    if (!r->has_section)
        printf("%s: no .sframe\n", name);
}

bool report_text_file(const struct report_file *file)
{
    char *name;

    if (file->result->fault.cause)
        return true; /* the command complains on stderr */
    name = foreign_copy(file->name, FOREIGN_NAME);
    if (!name)
        return false;
    print_result(name, file->result);
    free(name);
    return true;
}

void report_text_summary(const struct report *report)
{
    printf("%" PRIu64 " file%s, %" PRIu64 " with .sframe: %" PRIu64 " error%s, %" PRIu64
           " warning%s, %" PRIu64 " note%s",
           report->files, report->files == 1 ? "" : "s", report->with_section,
           report->by_severity[CHECK_ERROR], report->by_severity[CHECK_ERROR] == 1 ? "" : "s",
           report->by_severity[CHECK_WARNING], report->by_severity[CHECK_WARNING] == 1 ? "" : "s",
           report->by_severity[CHECK_NOTE], report->by_severity[CHECK_NOTE] == 1 ? "" : "s");
    if (report->unreadable > 0)
        printf("; %" PRIu64 " unreadable", report->unreadable);
    printf("\n");
}
