#include "report.h"

#include <inttypes.h>
#include <stdio.h>

bool report_open(struct report *out, enum report_format format)
{
    *out = (struct report){ .format = format };
    switch (format) {
    case REPORT_TEXT: return true;
    case REPORT_JSON: return report_json_open(out);
    case REPORT_SARIF: return report_sarif_open(out);
    }
    return false;
}

bool report_file(struct report *report, const struct report_file *file)
{
    const struct check_result *r = file->result;

    report->files++;
    report->with_section += r->has_section;
    report->unreadable += r->fault.cause != NULL;
    report->with_findings += findings_bad(&r->findings);
    for (size_t i = 0; i < 3; i++)
        report->by_severity[i] += r->findings.by_severity[i];
    switch (report->format) {
    case REPORT_TEXT: return report_text_file(file);
    case REPORT_JSON: return report_json_file(report, file);
    case REPORT_SARIF: return report_sarif_file(report, file);
    }
    return false;
}

bool report_close(struct report *report)
{
    switch (report->format) {
    case REPORT_TEXT: report_text_summary(report); return true;
    case REPORT_JSON: return report_json_close(report);
    case REPORT_SARIF: return report_sarif_close(report);
    }
    return false;
}

uint64_t report_byte_offset(const struct report_file *file, const struct finding *finding)
{
    uint64_t at = file->member_at + finding->place.offset;

    switch (finding->place.region) {
    case IN_SFRAME: return at + file->result->section_at;
    case IN_EH_FRAME: return at + file->result->eh_frame_at;
    case IN_FILE: break;
    }
    return at;
}

void report_owner(char *out, size_t size, const struct finding_place *place)
{
    out[0] = '\0';
    if (place->fre != FINDING_NONE)
        snprintf(out, size, "FDE %" PRId64 " FRE %" PRId64 ": ", place->fde, place->fre);
    else if (place->fde != FINDING_NONE)
        snprintf(out, size, "FDE %" PRId64 ": ", place->fde);
}
