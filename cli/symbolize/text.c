#include "cli/symbolize/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/crash_report.h"
#include "cli/log_lines.h"
#include "crash/grammar.h"
#include "util/foreign.h"

/* Where the search is. */
struct search {
    const struct stack_print *print;
    const struct input *input;
    uint32_t flags;
    struct log_lines lines;
    struct log_line line;
    struct crash_report report;
    bool have_line, have_report;
    uint64_t bad_line; /* of which a fault was said: one a line is enough */
    bool process_missed, printed;
    enum tool_exit exit_status;
};

bool symbolize_is_text(const struct input *input)
{
    return memmem(input->data, input->size, LOG_LINE_PREFIX, sizeof LOG_LINE_PREFIX - 1) ||
           memmem(input->data, input->size, SFB_CRASH_PREFIX, sizeof SFB_CRASH_PREFIX - 1);
}

/* --- reports ----------------------------------------------------------------------------------- */

/* An empty line between two. */
static void begin_one(struct search *s)
{
    if (s->printed)
        putchar('\n');
    s->printed = true;
}

/* @return whether all of it can be read; none is fine */
static bool print_cbf(const struct stack_print *print, const char *name,
                      const struct crash_cbf *cbf, bool pc_is_behind, const char *truncated)
{
    struct backtraces b = { .input = { name, cbf->bytes, cbf->size } };

    return cbf->size == 0 || (backtraces_next(&b) == SFB_OK &&
                              stack_print(print, &b, pc_is_behind, truncated) == SFB_END);
}

/* Blocks that registers point into, each with the stack that allocated it. */
static bool print_blocks(const struct stack_print *print, const char *name,
                         const struct crash_report *report)
{
    bool good = true;

    for (size_t i = 0; i < report->block_count; i++) {
        const struct crash_block *block = &report->blocks[i];

        puts(block->text);
        good = print_cbf(print, name, &block->cbf, false, NULL) && good;
    }
    return good;
}

static enum tool_exit symbolize_report(const struct stack_print *print, struct crash_report *report,
                                       const char *name)
{
    enum tool_exit exit_status = TOOL_DONE;

    if (!symbols_use_modules(print->symbols, report->modules, report->module_count))
        return tool_complain(TOOL_USAGE, "%s: %s", name, strerror(ENOMEM));
    puts(report->headline ? report->headline : "?");
    if (!print_cbf(print, name, &report->cbf, report->pc_is_behind, report->truncated))
        exit_status = TOOL_BAD_DATA;
    if (!print_blocks(print, name, report))
        exit_status = TOOL_BAD_DATA;
    for (size_t i = 0; i < report->module_count; i++)
        if (report->modules[i].refused)
            exit_status = TOOL_BAD_DATA;
    if (!report->complete)
        exit_status = tool_complain(TOOL_BAD_DATA, "%s: a report without its last line", name);
    if (!symbols_use_process(print->symbols))
        return tool_complain(TOOL_USAGE, "%s: %s", name, strerror(ENOMEM));
    return exit_status;
}

/* --- log lines --------------------------------------------------------------------------------- */

/* @param text  what a log has before the backtrace; it may have been cut within a letter */
static void print_headline(const struct log_line *line)
{
    char text[FOREIGN_ESCAPE * LOG_LINE_BEFORE + 1];
    size_t size = line->before_size;

    while (size > 0 && (line->before[size - 1] == ' ' || line->before[size - 1] == '\t'))
        size--;
    foreign_escape(text, sizeof text, line->before, size, FOREIGN_NAME);
    printf("line %" PRIu64 "%s%s\n", line->number, size > 0 ? ": " : "", text);
}

static void complain_of_line(struct search *s, const char *cause)
{
    s->exit_status = tool_worse(s->exit_status, TOOL_BAD_DATA);
    if (s->bad_line == s->line.number)
        return;
    s->bad_line = s->line.number;
    tool_complain(TOOL_BAD_DATA, "%s: line %" PRIu64 ": %s", s->input->name, s->line.number, cause);
}

static void symbolize_line(struct search *s)
{
    char name[64];
    struct backtraces b = { .flags = s->flags | SFB_CBF_REQUIRE_END, .quiet = true };
    struct sfb_error error = { SFB_OK, "data", 0 };
    const char *cause = log_line_decode(&s->line, &b.input.data, &b.input.size);
    char text[160];

    if (!symbols_have_process(s->print->symbols) && !s->process_missed) {
        s->process_missed = true;
        s->exit_status = tool_complain(
            TOOL_BAD_DATA, "%s: line %" PRIu64 ": give --pid or --maps to name the functions of it",
            s->input->name, s->line.number);
    }
    if (b.input.size > 0) {
        snprintf(name, sizeof name, "line %" PRIu64, s->line.number);
        b.input.name = name;
        begin_one(s);
        print_headline(&s->line);
        if ((backtraces_next(&b) != SFB_OK || stack_print(s->print, &b, false, NULL) != SFB_END) &&
            !cause) {
            error = b.error;
            snprintf(text, sizeof text, "backtrace+0x%zx: %s: %s", (size_t)error.offset,
                     error.field, sfb_status_str(error.status));
            cause = text;
        }
    }
    if (cause)
        complain_of_line(s, cause);
    free(b.input.data);
}

enum tool_exit symbolize_text(const struct stack_print *print, const struct input *input,
                              uint32_t flags, size_t *count)
{
    struct search s = { .print = print, .input = input, .flags = flags };
    size_t offset = 0;

    log_lines_begin(&s.lines, input);
    s.have_line = log_lines_next(&s.lines, &s.line);
    s.have_report = crash_report_read(&s.report, input, &offset, &s.exit_status);
    for (*count = 0; s.have_line || s.have_report; ++*count) {
        if (s.have_report && (!s.have_line || s.report.start < s.line.offset)) {
            begin_one(&s);
            s.exit_status =
                tool_worse(s.exit_status, symbolize_report(print, &s.report, input->name));
            crash_report_free(&s.report);
            s.have_report = crash_report_read(&s.report, input, &offset, &s.exit_status);
        } else {
            symbolize_line(&s);
            s.have_line = log_lines_next(&s.lines, &s.line);
        }
    }
    if (symbols_refused(print->symbols))
        s.exit_status = tool_worse(s.exit_status, TOOL_BAD_DATA);
    return s.exit_status;
}
