/*
 * Commands of a GitHub workflow, which become annotations:
 *
 *     ::error file=lib/libx.so,title=SF0501 the CFA differs from .eh_frame::FDE 3: at 0x1234 ...
 *
 * A text ends at the line. Percent signs are escaped, in the properties also colons and commas.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/report.h"
#include "util/foreign.h"

static void put(struct report *report, const char *text, bool is_property)
{
    char *escaped = foreign_copy(text, FOREIGN_NAME);

    report->failed |= !escaped;
    for (const char *at = escaped ? escaped : ""; *at; at++)
        if (*at == '%' || (is_property && (*at == ':' || *at == ',')))
            fprintf(report->to, "%%%02X", (unsigned)*at);
        else
            putc(*at, report->to);
    free(escaped);
}

static const char *command_name(enum check_severity severity)
{
    return severity == CHECK_NOTE ? "notice" : check_severity_name(severity);
}

void report_github_finding(struct report *report, const struct report_file *file,
                           const struct check *c, const struct finding *f)
{
    char code[CHECK_CODE_SIZE], owner[64], *text = report_text_of(c, f);

    check_code_name(code, f->code);
    report_owner(owner, sizeof owner, &f->place);
    fprintf(report->to, "::%s file=", command_name(f->severity));
    put(report, file->path, true);
    fprintf(report->to, ",title=%s ", code);
    put(report, check_code_text(f->code)->title, true);
    fprintf(report->to, "::");
    if (strcmp(file->name, file->path) != 0) {
        put(report, file->name, false);
        fprintf(report->to, ": ");
    }
    put(report, owner, false);
    put(report, text ? text : f->text, false);
    report->failed |= !text;
    free(text);
    putc('\n', report->to);
}

/* An unreadable file becomes a command, too; other lines are no commands. */
void report_github_end(struct report *report, const struct report_file *file,
                       const struct check_result *result)
{
    const struct object_fault *fault = &result->fault;

    if (!fault->cause) {
        report_text_end(report, file, result);
        return;
    }
    fprintf(report->to, "::error file=");
    put(report, file->path, true);
    fprintf(report->to, ",title=it cannot be read::");
    put(report, file->name, false);
    fprintf(report->to, ": ");
    if (fault->field) {
        put(report, fault->field, false);
        fprintf(report->to, ": ");
    }
    put(report, fault->cause, false);
    putc('\n', report->to);
}
