/*
 * SARIF 2.1.0: what code hosts and editors show. Every code is a rule; a finding is a result whose
 * region is bytes of a binary artifact.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"
#include "report_json.h"

static const char *level_name(enum check_severity severity)
{
    return check_severity_name(severity); /* SARIF's words are the same three */
}

static json_t *rule_json(const struct check_code_text *text)
{
    char code[CHECK_CODE_SIZE];

    check_code_name(code, text->code);
    return json_pack("{s:s, s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s}}", "id", code, "shortDescription",
                     "text", text->title, "fullDescription", "text", text->what, "help", "text",
                     text->why, "defaultConfiguration", "level", level_name(text->severity));
}

static json_t *rules_json(void)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < check_code_count; i++)
        json_array_append_new(list, rule_json(&check_codes[i]));
    return list;
}

/* A path as a URI reference: letters that mean something there are escaped. */
static json_t *uri_json(const char *path)
{
    size_t size = 1;
    char *uri, *to;
    json_t *value;

    for (const char *at = path; *at; at++)
        size += 3;
    uri = to = calloc(1, size);
    if (!uri)
        return NULL;
    for (const char *at = path; *at; at++) {
        const unsigned char c = (unsigned char)*at;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '/' || c == '.' || c == '-' || c == '_' || c == '~' || c == '+')
            *to++ = (char)c;
        else
            to += snprintf(to, 4, "%%%02X", c);
    }
    *to = '\0';
    value = json_string(uri);
    free(uri);
    return value;
}

static json_t *result_json(const struct report_file *file, const struct finding *f)
{
    char code[CHECK_CODE_SIZE], owner[64];
    const uint64_t offset = report_byte_offset(file, f);
    char *message;
    json_t *o;

    check_code_name(code, f->code);
    report_owner(owner, sizeof owner, &f->place);
    if (asprintf(&message, "%s%s: %s", owner, check_code_text(f->code)->title, f->text) < 0)
        return NULL;
    o = json_pack("{s:s, s:i, s:s, s:{s:o}, s:[{s:{s:{s:o}, s:{s:I, s:i}}, "
                  "s:[{s:o}]}]}",
                  "ruleId", code, "ruleIndex", (int)check_code_index(f->code), "level",
                  level_name(check_code_text(f->code)->severity), "message", "text",
                  report_json_string(message), "locations", "physicalLocation", "artifactLocation",
                  "uri", uri_json(file->path), "region", "byteOffset",
                  (json_int_t)(offset & INT64_MAX), "byteLength", 1, "logicalLocations",
                  "fullyQualifiedName", report_json_string(file->name));
    free(message);
    return o;
}

struct sarif {
    json_t *results, *notifications;
};

bool report_sarif_open(struct report *report)
{
    struct sarif *s = malloc(sizeof *s);

    report->root = s;
    if (!s)
        return false;
    *s = (struct sarif){ json_array(), json_array() };
    return s->results && s->notifications;
}

static bool add_fault(struct sarif *s, const struct report_file *file)
{
    const struct object_fault *fault = &file->result->fault;
    char *message;
    json_t *o;

    if (asprintf(&message, "%s%s%s", fault->field ? fault->field : "", fault->field ? ": " : "",
                 fault->cause) < 0)
        return false;
    o = json_pack("{s:s, s:{s:o}, s:[{s:{s:{s:o}, s:{s:I, s:i}}}]}", "level", "error", "message",
                  "text", report_json_string(message), "locations", "physicalLocation",
                  "artifactLocation", "uri", uri_json(file->path), "region", "byteOffset",
                  (json_int_t)((file->member_at + fault->offset) & INT64_MAX), "byteLength", 1);
    free(message);
    return json_array_append_new(s->notifications, o) == 0;
}

bool report_sarif_file(struct report *report, const struct report_file *file)
{
    struct sarif *s = report->root;
    const struct findings *f = &file->result->findings;
    bool good = true;

    if (file->result->fault.cause)
        return add_fault(s, file);
    for (size_t i = 0; i < f->count; i++)
        good &= json_array_append_new(s->results, result_json(file, &f->list[i])) == 0;
    return good;
}

bool report_sarif_close(struct report *report)
{
    struct sarif *s = report->root;
    json_t *all =
        json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:s, s:o}}, s:[{s:b, s:o}], s:o}]}", "$schema",
                  "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                  "tool", "driver", "name", "sfb check", "version", SFB_VERSION, "informationUri",
                  "https://sourceware.org/binutils/docs/sframe-spec.html", "rules", rules_json(),
                  "invocations", "executionSuccessful", report->unreadable == 0,
                  "toolExecutionNotifications", s->notifications, "results", s->results);
    bool good = report_json_write(all);

    json_decref(all);
    free(s);
    return good;
}
