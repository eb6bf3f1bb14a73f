#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "where.h"

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
    case REPORT_TEXT: report_text_finding(report, file, finding); break;
    case REPORT_JSON: report_json_finding(report, file, c, finding); break;
    case REPORT_SARIF: report_sarif_finding(report, file, c, finding); break;
    case REPORT_GITHUB: report_github_finding(report, file, finding); break;
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

void report_owner(char *out, size_t size, const struct finding_place *place)
{
    out[0] = '\0';
    if (place->fre != FINDING_NONE)
        snprintf(out, size, "FDE %" PRId64 " FRE %" PRId64 ": ", place->fde, place->fre);
    else if (place->fde != FINDING_NONE)
        snprintf(out, size, "FDE %" PRId64 ": ", place->fde);
}

/* ---- fingerprints ---- */

/* FNV-1a, 64 bits. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    for (const uint8_t *at = bytes; size > 0; size--)
        hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
    return hash;
}

/* With the zero behind it, so that two texts are not one. */
static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text, strlen(text) + 1);
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, number);
    return mix_text(hash, text);
}

/* The folder of a build is another one each time; the member of an archive stands behind the path. */
static uint64_t mix_file(uint64_t hash, const struct report_file *file)
{
    const size_t length = strlen(file->path);
    const char *slash = strrchr(file->path, '/');

    hash = mix_text(hash, slash ? slash + 1 : file->path);
    return mix_text(hash, strlen(file->name) > length ? file->name + length : "");
}

uint64_t report_fingerprint(const struct report_file *file, const struct check *c,
                            const struct finding *finding)
{
    uint64_t hash = mix_number(UINT64_C(0xcbf29ce484222325), finding->code);

    hash = mix_file(hash, file);
    if (finding->place.has_pc) {
        struct where_in in = where_symbol(c->object, finding->place.pc);

        if (!in.name)
            in = where_section(c->object, finding->place.pc);
        hash = mix_text(hash, in.name ? in.name : "");
        hash = mix_number(hash, in.name ? in.offset : finding->place.pc);
    }
    hash = mix_text(hash, finding->rules.sframe ? finding->rules.sframe : "");
    return mix_text(hash, finding->rules.eh_frame ? finding->rules.eh_frame : "");
}
