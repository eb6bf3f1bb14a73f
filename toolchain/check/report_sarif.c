/*
 * SARIF 2.1.0 for code hosts and editors. Every code is a rule; a finding is a result with a byte
 * region of a binary artifact. Line 1 is added for readers that know only lines.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/report.h"
#include "toolchain/check/report_json.h"

static const char *level_name(enum check_severity severity)
{
    return check_severity_name(severity); /* SARIF has the same three words */
}

static void put(struct report *report, FILE *to, json_t *value)
{
    report->failed |= !report_json_put(to, value, false);
}

static json_t *rule_json(const struct check_code_text *text)
{
    char code[CHECK_CODE_SIZE];

    check_code_name(code, text->code);
    return json_pack("{s:s, s:{s:s}, s:{s:s}, s:{s:s}, s:s, s:{s:s}}", "id", code,
                     "shortDescription", "text", text->title, "fullDescription", "text", text->what,
                     "help", "text", text->why, "helpUri", SFB_CHECKS_URI, "defaultConfiguration",
                     "level", level_name(text->severity));
}

/*
 * A path as a URI reference: special characters are escaped. An absolute path is a file: URI,
 * because validators refuse it otherwise.
 */
static json_t *uri_json(const char *path)
{
    static const char scheme[] = "file://";
    size_t size = sizeof scheme;
    char *uri, *to;
    json_t *value;

    for (const char *at = path; *at; at++)
        size += 3;
    uri = to = calloc(1, size);
    if (!uri)
        return NULL;
    if (path[0] == '/')
        to = stpcpy(to, scheme);
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

/* A byte offset in a file, as a physicalLocation. */
static json_t *location_json(const char *path, uint64_t offset)
{
    return json_pack("{s:{s:o}, s:{s:i, s:I, s:i}}", "artifactLocation", "uri", uri_json(path),
                     "region", "startLine", 1, "byteOffset", (json_int_t)(offset & INT64_MAX),
                     "byteLength", 1);
}

bool report_sarif_open(struct report *report)
{
    report->later = open_memstream(&report->later_text, &report->later_size);
    return report->later != NULL;
}

void report_sarif_head(struct report *report)
{
    fprintf(report->to,
            "{\n\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
            "\"version\": \"2.1.0\",\n\"runs\": [{\n\"tool\": {\"driver\": {\"name\": \"sfb "
            "check\", \"version\": \"%s\",\n\"informationUri\": "
            "\"https://sourceware.org/binutils/docs/sframe-spec.html\",\n\"rules\": [",
            SFB_VERSION);
    for (size_t i = 0; i < check_code_count; i++) {
        fprintf(report->to, "%s\n", i > 0 ? "," : "");
        put(report, report->to, rule_json(&check_codes[i]));
    }
    fprintf(report->to, "\n]}},\n\"results\": [");
}

void report_sarif_finding(struct report *report, const struct report_file *file,
                          const struct check *c, const struct finding *f)
{
    const uint64_t offset = report_byte_offset(file, c->result, f);
    char code[CHECK_CODE_SIZE], owner[64];
    char *message;

    check_code_name(code, f->code);
    report_owner(owner, sizeof owner, &f->place);
    if (asprintf(&message, "%s%s: %s", owner, check_code_text(f->code)->title, f->text) < 0) {
        report->failed = true;
        return;
    }
    fprintf(report->to, "%s\n", report->any ? "," : "");
    put(report, report->to,
        json_pack("{s:s, s:i, s:s, s:{s:o}, s:[{s:o, s:[{s:o}]}], s:{s:o}}", "ruleId", code,
                  "ruleIndex", (int)check_code_index(f->code), "level", level_name(f->severity),
                  "message", "text", report_json_string(message), "locations", "physicalLocation",
                  location_json(file->path, offset), "logicalLocations", "fullyQualifiedName",
                  report_json_string(file->name), "partialFingerprints", "sfbCheck/v1",
                  report_json_hex(f->fingerprint)));
    report->any = true;
    free(message);
}

/* An unreadable file is a notification of the run, not a result. */
void report_sarif_end(struct report *report, const struct report_file *file,
                      const struct check_result *result)
{
    const struct object_fault *fault = &result->fault;
    char *message;

    if (!fault->cause)
        return;
    if (asprintf(&message, "%s: %s%s%s", file->name, fault->field ? fault->field : "",
                 fault->field ? ": " : "", fault->cause) < 0) {
        report->failed = true;
        return;
    }
    fprintf(report->later, "%s\n", ftell(report->later) > 0 ? "," : "");
    put(report, report->later,
        json_pack("{s:s, s:{s:o}, s:[{s:o}]}", "level", "error", "message", "text",
                  report_json_string(message), "locations", "physicalLocation",
                  location_json(file->path, file->member_at + fault->offset)));
    free(message);
}

void report_sarif_tail(struct report *report)
{
    report->failed |= fflush(report->later) != 0;
    fprintf(report->to,
            "\n],\n\"invocations\": [{\"executionSuccessful\": %s, "
            "\"toolExecutionNotifications\": [%s]}]\n}]\n}\n",
            report->counts.unreadable == 0 ? "true" : "false",
            report->later_text ? report->later_text : "");
}
