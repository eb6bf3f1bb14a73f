/*
 * One JSON object; toolchain/docs/check.schema.json describes its fields. Each finding and file is
 * a line, written as it comes: totals follow.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/report.h"
#include "toolchain/check/report_json.h"
#include "toolchain/check/where.h"

/* Of the object. A new field keeps it; a removed field, or one with a new meaning, raises it. */
enum { FORMAT = 2 };

static void put(struct report *report, json_t *value, bool is_inside)
{
    report->failed |= !report_json_put(report->to, value, is_inside);
}

static json_t *counts_json(const uint64_t *by_severity)
{
    return json_pack("{s:o, s:o, s:o}", "error", report_json_number(by_severity[CHECK_ERROR]),
                     "warning", report_json_number(by_severity[CHECK_WARNING]), "note",
                     report_json_number(by_severity[CHECK_NOTE]));
}

void report_json_head(struct report *report)
{
    fprintf(report->to, "{\n\"format\": %d,\n\"tool\": ", FORMAT);
    put(report, json_pack("{s:s, s:s}", "name", "sfb check", "version", SFB_VERSION), false);
    fprintf(report->to, ",\n\"files\": [");
}

void report_json_begin(struct report *report, const struct report_file *file)
{
    fprintf(report->to, "%s\n{", report->any ? "," : "");
    put(report,
        json_pack("{s:o, s:o}", "name", report_json_string(file->name), "path",
                  report_json_string(file->path)),
        true);
    fprintf(report->to, ", \"findings\": [");
    report->any = true;
    report->any_finding = false;
}

/* ---- a finding ---- */

static void set_in(json_t *o, const char *key, struct where_in in)
{
    if (in.name)
        json_object_set_new(o, key,
                            json_pack("{s:o, s:o}", "name", report_json_string(in.name), "offset",
                                      report_json_number(in.offset)));
}

static void set_code(json_t *o, const struct check *c, const struct finding *f)
{
    if (f->place.fde != FINDING_NONE)
        json_object_set_new(o, "fde", json_integer(f->place.fde));
    if (f->place.fre != FINDING_NONE)
        json_object_set_new(o, "fre", json_integer(f->place.fre));
    if (!f->place.has_pc)
        return;
    /* check_image() invents the addresses of an object file. */
    if (!c->object || !c->object->relocatable)
        json_object_set_new(o, "pc", report_json_hex(f->place.pc));
    set_in(o, "symbol", where_symbol(c->object, f->place.pc));
    set_in(o, "section", where_section(c->object, f->place.pc));
}

static void set_rules(json_t *o, const struct finding_rules *rules)
{
    json_t *both;

    if (!rules->sframe && !rules->eh_frame)
        return;
    both = json_object();
    if (rules->sframe)
        json_object_set_new(both, "sframe", report_json_string(rules->sframe));
    if (rules->eh_frame)
        json_object_set_new(both, "eh_frame", report_json_string(rules->eh_frame));
    json_object_set_new(o, "rules", both);
}

void report_json_finding(struct report *report, const struct report_file *file,
                         const struct check *c, const struct finding *f)
{
    static const char *const regions[] = {
        [IN_SFRAME] = ".sframe", [IN_FILE] = "file", [IN_EH_FRAME] = ".eh_frame"
    };
    const uint64_t offset = report_byte_offset(file, c->result, f);
    char code[CHECK_CODE_SIZE];
    json_t *o;

    check_code_name(code, f->code);
    o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "code", code, "severity",
                  check_severity_name(f->severity), "title", check_code_text(f->code)->title,
                  "region", regions[f->place.region], "offset", report_json_number(f->place.offset),
                  "file_offset", report_json_number(offset), "text", report_json_string(f->text),
                  "fingerprint", report_json_hex(f->fingerprint));
    if (o && f->known)
        json_object_set_new(o, "known", json_string(f->known));
    if (o) {
        set_code(o, c, f);
        set_rules(o, &f->rules);
    }
    fprintf(report->to, "%s\n", report->any_finding ? "," : "");
    put(report, o, false);
    report->any_finding = true;
}

/* ---- a file ---- */

static json_t *share_json(const struct check_share *s)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "all", report_json_number(s->all), "covered",
                     report_json_number(s->covered), "equal", report_json_number(s->equal),
                     "beyond", report_json_number(s->beyond));
}

static json_t *codes_json(const uint64_t *of_code)
{
    json_t *o = json_object();

    for (size_t i = 0; o && of_code && i < check_code_count; i++) {
        char code[CHECK_CODE_SIZE];

        check_code_name(code, check_codes[i].code);
        if (of_code[i] > 0)
            json_object_set_new(o, code, report_json_number(of_code[i]));
    }
    return o;
}

static json_t *fault_json(const struct object_fault *fault)
{
    json_t *o = json_pack("{s:o, s:o}", "offset", report_json_number(fault->offset), "cause",
                          report_json_string(fault->cause));

    if (o && fault->field)
        json_object_set_new(o, "field", json_string(fault->field));
    return o;
}

static json_t *coverage_json(const struct check_coverage *c)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "functions", report_json_number(c->functions),
                     "functions_covered", report_json_number(c->functions_covered), "bytes",
                     report_json_number(c->bytes), "bytes_covered",
                     report_json_number(c->bytes_covered));
}

static json_t *stats_json(const struct check_stats *s)
{
    json_t *sections = json_array(), *uncovered = json_array();

    for (size_t i = 0; i < s->section_count; i++) {
        const struct stats_section *n = &s->sections[i];

        json_array_append_new(
            sections, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", report_json_string(n->name),
                                "functions", report_json_number(n->functions), "functions_covered",
                                report_json_number(n->functions_covered), "bytes",
                                report_json_number(n->bytes), "bytes_covered",
                                report_json_number(n->bytes_covered)));
    }
    for (size_t i = 0; i < s->uncovered_count; i++) {
        const struct stats_function *f = &s->uncovered[i];

        json_array_append_new(uncovered,
                              json_pack("{s:o, s:o, s:o}", "place", report_json_string(f->place),
                                        "bytes", report_json_number(f->bytes), "missing",
                                        report_json_number(f->missing)));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "header_size", report_json_number(s->header_size),
                     "entries_size", report_json_number(s->entries_size), "rows_size",
                     report_json_number(s->rows_size), "sections", sections, "uncovered",
                     uncovered);
}

static const char *verdict_name(const struct check_result *r)
{
    if (r->fault.cause)
        return "unreadable";
    switch (findings_verdict(&r->findings)) {
    case VERDICT_GOOD: return "good";
    case VERDICT_KNOWN: return "known";
    case VERDICT_BAD: break;
    }
    return "bad";
}

static json_t *comparison_json(const struct check_comparison *c)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "functions", share_json(&c->functions), "bytes",
                     share_json(&c->bytes), "rows", share_json(&c->rows), "sframe_size",
                     report_json_number(c->sframe_size), "eh_frame_size",
                     report_json_number(c->eh_frame_size));
}

void report_json_end(struct report *report, const struct report_file *file,
                     const struct check_result *r)
{
    json_t *o = json_pack(
        "{s:s, s:o, s:o, s:o, s:b, s:i, s:o, s:o, s:o, s:o, s:o}", "verdict", verdict_name(r),
        "known", report_json_number(r->findings.known), "ignored",
        report_json_number(r->findings.ignored), "in_baseline",
        report_json_number(r->findings.passed), "has_section", r->has_section, "version",
        (int)r->version, "functions", report_json_number(r->functions), "rows",
        report_json_number(r->rows), "counts", counts_json(r->findings.by_severity), "codes",
        codes_json(r->findings.of_code), "explained", codes_json(r->findings.explained));

    (void)file;
    if (o && r->comparison.done)
        json_object_set_new(o, "comparison", comparison_json(&r->comparison));
    if (o && r->coverage.done)
        json_object_set_new(o, "coverage", coverage_json(&r->coverage));
    if (o && r->stats.done)
        json_object_set_new(o, "stats", stats_json(&r->stats));
    if (o && r->producer[0])
        json_object_set_new(o, "producer", json_string(r->producer));
    if (o && r->fault.cause)
        json_object_set_new(o, "unreadable", fault_json(&r->fault));
    fprintf(report->to, "],\n");
    put(report, o, true);
    putc('}', report->to);
}

void report_json_tail(struct report *report)
{
    const struct report_counts *n = &report->counts;

    fprintf(report->to, "\n],\n");
    put(report,
        json_pack("{s:o, s:o, s:o}", "unreadable", report_json_number(n->unreadable),
                  "with_section", report_json_number(n->with_section), "counts",
                  counts_json(n->by_severity)),
        true);
    fprintf(report->to, "\n}\n");
}
