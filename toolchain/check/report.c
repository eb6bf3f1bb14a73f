#include "toolchain/check/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/where.h"

bool report_open(struct report *out, enum report_format format, FILE *to)
{
    *out = (struct report){ .format = format, .to = to };
    return format != REPORT_SARIF || report_sarif_open(out);
}

bool report_close(struct report *report)
{
    if (report->later)
        fclose(report->later);
    free(report->later_text);
    report->later = NULL;
    report->later_text = NULL;
    return !report->failed;
}

void report_head(struct report *report)
{
    switch (report->format) {
    case REPORT_JSON: report_json_head(report); break;
    case REPORT_SARIF: report_sarif_head(report); break;
    case REPORT_TEXT:
    case REPORT_GITHUB: break;
    }
}

void report_tail(struct report *report)
{
    switch (report->format) {
    case REPORT_JSON: report_json_tail(report); break;
    case REPORT_SARIF: report_sarif_tail(report); break;
    case REPORT_TEXT:
    case REPORT_GITHUB: report_text_tail(report); break;
    }
}

void report_begin(struct report *report, const struct report_file *file)
{
    if (report->format == REPORT_JSON)
        report_json_begin(report, file);
}

void report_finding(struct report *report, const struct report_file *file, const struct check *c,
                    const struct finding *finding)
{
    switch (report->format) {
    case REPORT_TEXT: report_text_finding(report, file, c, finding); break;
    case REPORT_JSON: report_json_finding(report, file, c, finding); break;
    case REPORT_SARIF: report_sarif_finding(report, file, c, finding); break;
    case REPORT_GITHUB: report_github_finding(report, file, c, finding); break;
    }
}

void report_end(struct report *report, const struct report_file *file,
                const struct check_result *result)
{
    struct report_counts *n = &report->counts;

    n->files++;
    n->with_section += result->has_section;
    n->unreadable += result->fault.cause != NULL;
    n->with_findings += findings_bad(&result->findings);
    for (size_t i = 0; i < 3; i++)
        n->by_severity[i] += result->findings.by_severity[i];
    switch (report->format) {
    case REPORT_TEXT: report_text_end(report, file, result); break;
    case REPORT_JSON: report_json_end(report, file, result); break;
    case REPORT_SARIF: report_sarif_end(report, file, result); break;
    case REPORT_GITHUB: report_github_end(report, file, result); break;
    }
}

uint64_t report_byte_offset(const struct report_file *file, const struct check_result *result,
                            const struct finding *finding)
{
    uint64_t at = file->member_at + finding->place.offset;

    switch (finding->place.region) {
    case IN_SFRAME: return at + result->section_at;
    case IN_EH_FRAME: return at + result->eh_frame_at;
    case IN_FILE: break;
    }
    return at;
}

double report_percent_down(uint64_t part, uint64_t all)
{
    return all > 0 ? floor(10000.0 * (double)part / (double)all) / 100 : 100.0;
}

void report_owner(char *out, size_t size, const struct finding_place *place)
{
    out[0] = '\0';
    if (place->fre != FINDING_NONE)
        snprintf(out, size, "FDE %" PRId64 " FRE %" PRId64 ": ", place->fde, place->fre);
    else if (place->fde != FINDING_NONE)
        snprintf(out, size, "FDE %" PRId64 ": ", place->fde);
}

char *report_text_of(const struct check *c, const struct finding *finding)
{
    const struct where_in in = finding->place.has_pc && c->object
                                   ? where_symbol(c->object, finding->place.pc)
                                   : (struct where_in){ NULL, 0 };
    char *text;

    /* Texts about code begin with the pc and its symbol. */
    if (!in.name || in.name[0] == '\0' || strncmp(finding->text, "at ", 3) == 0)
        return strdup(finding->text);
    return asprintf(&text, "%s, in %s+0x%" PRIx64, finding->text, in.name, in.offset) < 0 ? NULL
                                                                                          : text;
}
