/* All of it as one JSON object. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/foreign.h"
#include "report.h"
#include "report_json.h"

json_t *report_json_string(const char *text)
{
    json_t *value = json_string(text);
    char *copy;

    if (value)
        return value;
    copy = strdup(text);
    if (!copy)
        return NULL;
    for (char *at = copy; *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

/* Of all such characters only these are left as they are by jansson; none is beyond U+FFFF. */
static int write_escaped(const char *text, size_t size, void *to)
{
    size_t length;

    for (size_t i = 0; i < size; i += length) {
        uint32_t value;

        length = foreign_character(text + i, size - i, &value);
        if (value >= 0x7f && foreign_is_unprintable(value))
            fprintf(to, "\\u%04" PRIx32, value & 0xffff);
        else
            fwrite(text + i, 1, length, to);
    }
    return 0;
}

bool report_json_write(const json_t *value)
{
    const bool good =
        value && json_dump_callback(value, write_escaped, stdout, JSON_INDENT(2)) == 0;

    putchar('\n');
    return good;
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)(value & INT64_MAX));
}

static json_t *finding_json(const struct report_file *file, const struct finding *f)
{
    static const char *const regions[] = {
        [IN_SFRAME] = ".sframe", [IN_FILE] = "file", [IN_EH_FRAME] = ".eh_frame"
    };
    const struct check_code_text *text = check_code_text(f->code);
    char code[CHECK_CODE_SIZE];
    const uint64_t offset = report_byte_offset(file, f);
    json_t *o;

    check_code_name(code, f->code);
    o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "code", code, "severity",
                  check_severity_name(text->severity), "title", text->title, "region",
                  regions[f->place.region], "offset", number(f->place.offset), "file_offset",
                  number(offset), "text", report_json_string(f->text));
    if (o && f->place.fde != FINDING_NONE)
        json_object_set_new(o, "fde", json_integer(f->place.fde));
    if (o && f->place.fre != FINDING_NONE)
        json_object_set_new(o, "fre", json_integer(f->place.fre));
    return o;
}

static json_t *share_json(const struct check_share *s)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "all", number(s->all), "covered", number(s->covered),
                     "equal", number(s->equal), "beyond", number(s->beyond));
}

static json_t *counts_json(const uint64_t *by_severity)
{
    return json_pack("{s:o, s:o, s:o}", "error", number(by_severity[CHECK_ERROR]), "warning",
                     number(by_severity[CHECK_WARNING]), "note", number(by_severity[CHECK_NOTE]));
}

static json_t *codes_json(const struct findings *f)
{
    json_t *o = json_object();

    for (size_t i = 0; o && i < check_code_count; i++) {
        char code[CHECK_CODE_SIZE];

        check_code_name(code, check_codes[i].code);
        if (f->of_code[i] > 0)
            json_object_set_new(o, code, number(f->of_code[i]));
    }
    return o;
}

static json_t *fault_json(const struct object_fault *fault)
{
    return json_pack("{s:o, s:s?, s:s}", "offset", number(fault->offset), "field", fault->field,
                     "cause", fault->cause);
}

static json_t *file_json(const struct report_file *file)
{
    const struct check_result *r = file->result;
    const struct check_comparison *c = &r->comparison;
    json_t *list = json_array(), *o;

    if (r->fault.cause) {
        json_decref(list);
        return json_pack("{s:o, s:o}", "name", report_json_string(file->name), "unreadable",
                         fault_json(&r->fault));
    }
    for (size_t i = 0; i < r->findings.count; i++)
        json_array_append_new(list, finding_json(file, &r->findings.list[i]));
    o = json_pack("{s:o, s:b, s:i, s:o, s:o, s:o, s:o}", "name", report_json_string(file->name),
                  "has_section", r->has_section, "version", (int)r->version, "functions",
                  number(r->functions), "counts", counts_json(r->findings.by_severity), "codes",
                  codes_json(&r->findings), "findings", list);
    if (o && c->done)
        json_object_set_new(
            o, "comparison",
            json_pack("{s:o, s:o, s:o, s:o, s:o}", "functions", share_json(&c->functions), "bytes",
                      share_json(&c->bytes), "rows", share_json(&c->rows), "sframe_size",
                      number(c->sframe_size), "eh_frame_size", number(c->eh_frame_size)));
    return o;
}

bool report_json_open(struct report *report)
{
    report->root = json_array();
    return report->root != NULL;
}

bool report_json_file(struct report *report, const struct report_file *file)
{
    return json_array_append_new(report->root, file_json(file)) == 0;
}

bool report_json_close(struct report *report)
{
    json_t *all =
        json_pack("{s:i, s:o, s:o, s:o}", "format", 1, "files", report->root, "unreadable",
                  number(report->unreadable), "counts", counts_json(report->by_severity));
    bool good = report_json_write(all);

    json_decref(all);
    return good;
}
