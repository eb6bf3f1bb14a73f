/*
 * sfb check: is this .sframe right? The subcommand.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/check/arguments.h"
#include "cli/check/extract.h"
#include "cli/check/files.h"
#include "cli/options.h"
#include "cli/tool_files.h"

static enum tool_exit read_baseline(struct check_policy *policy, const char *path)
{
    struct input input;
    size_t line;
    bool good;

    if (!tool_read(&input, path))
        return TOOL_USAGE;
    good = baseline_read(&policy->baseline, (const char *)input.data, input.size, &line);
    input_free(&input);
    if (good)
        return TOOL_DONE;
    return tool_complain(TOOL_USAGE, "%s: line %zu: no fingerprint at its beginning", path, line);
}

/* What was written down goes to its file once all is checked: it may be the baseline that was read. */
static enum tool_exit save_baseline(FILE *from, const char *path)
{
    FILE *to = fopen(path, "w");
    bool good = to != NULL;
    char bytes[1 << 14];

    rewind(from);
    if (to)
        baseline_write_head(to);
    for (size_t n; good && (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
        good = fwrite(bytes, 1, n, to) == n;
    if (to && fclose(to) != 0)
        good = false;
    return good ? TOOL_DONE : tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno));
}

static enum tool_exit check_files(const struct arguments *a, char **paths)
{
    struct run run = { .options = a->options, .policy = a->policy };

    if (!report_open(&run.report, a->format, stdout))
        return tool_complain(TOOL_USAGE, "out of memory");
    report_head(&run.report);
    if (a->jobs > 1)
        run_jobs(&run, paths, (size_t)a->jobs);
    else
        for (; *paths && !run.no_memory; paths++)
            run_file(&run, *paths);
    report_tail(&run.report);
    if (!report_close(&run.report) || run.no_memory)
        return tool_complain(TOOL_USAGE, "out of memory");
    return run.exit_status;
}

/* With the baseline that is read, and the one that is written. */
static enum tool_exit check_with_baseline(struct arguments *a, char **paths)
{
    struct check_policy *p = &a->policy;
    enum tool_exit exit_status = a->baseline ? read_baseline(p, a->baseline) : TOOL_DONE, saved;

    if (exit_status != TOOL_DONE)
        return exit_status;
    if (a->write_baseline && !(p->baseline_to = tmpfile()))
        return tool_complain(TOOL_USAGE, "no temporary file: %s", strerror(errno));
    exit_status = check_files(a, paths);
    if (p->baseline_to) {
        saved = save_baseline(p->baseline_to, a->write_baseline);
        fclose(p->baseline_to);
        /* All of it is known from now on. */
        exit_status = exit_status == TOOL_BAD_DATA ? saved : tool_worse(exit_status, saved);
    }
    baseline_free(&p->baseline);
    return exit_status;
}

static enum tool_exit extract_one(const struct arguments *a, const char *path)
{
    enum tool_exit exit_status;
    struct input input;

    if (!tool_read(&input, path))
        return TOOL_USAGE;
    exit_status = extract_function(&input, a->extract_fde, &a->options);
    input_free(&input);
    return exit_status;
}

/* ---- options ---- */

static enum tool_exit explain(const struct tool_command *command, const char *name)
{
    const struct check_code_text *text = check_code_find(name);

    if (text) {
        check_code_explain(stdout, text);
        return TOOL_DONE;
    }
    if (strcmp(name, "table") == 0) {
        check_code_table(stdout);
        return TOOL_DONE;
    }
    if (strcmp(name, "all") != 0)
        return tool_misused(command, "'%s' is no code; --explain table lists them", name);
    for (size_t i = 0; i < check_code_count; i++) {
        if (i > 0)
            putchar('\n');
        check_code_explain(stdout, &check_codes[i]);
    }
    return TOOL_DONE;
}

static enum tool_exit run_check(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status;
    struct arguments a;

    if (!arguments_read(&a, &exit_status, command, argc, argv))
        return exit_status;
    if (a.explain)
        return explain(command, a.explain);
    if (a.extract)
        return extract_one(&a, argv[optind]);
    return check_with_baseline(&a, argv + optind);
}

const struct tool_command tool_check = {
    .name = "check",
    .summary = "judge an SFrame section, and compare it with .eh_frame",
    .usage = "sfb check [OPTION...] FILE...\n"
             "sfb check --explain CODE\n"
             "sfb check --extract FDE FILE",
    .about = "Judges the .sframe of programs, libraries, object files and archives (- is stdin) of "
             "any version, byte order and machine that SFrame has: its structure, the order of "
             "its functions and rows, the code they describe, and row by row what .eh_frame says "
             "of the same code. One finding a line:\n"
             "\n"
             "  FILE: .sframe+OFFSET: FDE i FRE j: CODE SEVERITY: finding: particulars\n",
    .options = arguments_options,
    .exits = "Exit status 1: there are errors or warnings; notes alone leave it at 0. 2: a file "
             "cannot be read.\n",
    .run = run_check,
};
