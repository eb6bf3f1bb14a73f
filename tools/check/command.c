/*
 * sfb check: is this .sframe right? The subcommand.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../input.h"
#include "arguments.h"
#include "extract.h"
#include "files.h"

static enum tool_exit read_baseline(struct check_policy *policy, const char *path)
{
    struct input input;
    size_t line;
    bool good;

    if (!input_read(&input, path))
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

    if (!input_read(&input, path))
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
    if (strcmp(name, "all") != 0)
        return tool_misused(command, "'%s' is no code; --explain all lists them", name);
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
    .usage =
        "sfb check [OPTION...] FILE...\n"
        "       sfb check --explain CODE\n"
        "       sfb check --extract FDE FILE\n"
        "\n"
        "Judges the .sframe of programs, libraries, object files and archives (- is stdin) of any\n"
        "version, byte order and machine that SFrame has: its structure, the order of its\n"
        "functions and rows, the code they describe, and row by row what .eh_frame says of the\n"
        "same code. One finding a line:\n"
        "\n"
        "  FILE: .sframe+OFFSET: FDE i FRE j: CODE SEVERITY: what it is: what is particular to it\n"
        "\n"
        "  --format=FORMAT  text; json, one object (docs/check.schema.json); sarif, SARIF 2.1.0;\n"
        "                   github, annotations of a workflow\n"
        "  --json, --sarif  the same as --format=json, --format=sarif\n"
        "  -j, --jobs N     check N files at a time; what is said keeps the order of the files\n"
        "  --max-errors N   findings of a file that are printed, 100 if not given, and of one "
        "code\n"
        "                   8; the rest is counted. 0: all\n"
        "  --no-cfi         without the comparison with .eh_frame\n"
        "  --code           compare the rows with the machine code. It is done by itself where\n"
        "                   .eh_frame does not have the function\n"
        "  --no-code        never do that\n"
        "  --raw            FILE holds the bytes of a section, not an ELF file\n"
        "  --vma ADDRESS    address of a raw section; 0 if not given\n"
        "  --explain CODE   what a finding means, why it matters, and who writes such a section;\n"
        "                   'all' for every code (docs/CHECKS.md)\n"
        "  --stats          how the code is covered, by section, the functions that miss most, "
        "and\n"
        "                   what the table costs\n"
        "  --extract FDE    everything about one function, for a bug report: bytes, rows, CFI and\n"
        "                   disassembly\n"
        "  --help           this text\n"
        "\n"
        "As the gate of a build (codes: SF0501,SF02 - SF02 is all that begin so):\n"
        "\n"
        "  --require              a file with code and without .sframe is an error\n"
        "  --kernel               FILE is a kernel: no segment, no .eh_frame, and what its reader\n"
        "                         does not take is an error: versions 1 and 2, flexible rows,\n"
        "                         functions that are not sorted, two rows at one byte\n"
        "  --min-coverage functions=N, --min-coverage bytes=N\n"
        "                         so many percent of the code need rows\n"
        "  --only CODES           nothing but these, and what the two options above ask for\n"
        "  --ignore CODES         not these\n"
        "  --error CODES, --warning CODES, --note CODES\n"
        "                         as grave as this\n"
        "  --allow-known          faults that a release of binutils is known for are no failure\n"
        "  --baseline FILE        pass over the errors and warnings of FILE\n"
        "  --write-baseline FILE  write those that there are to FILE; exit status 0\n"
        "\n"
        "Exit status 1: there are errors or warnings; notes alone leave it at 0. 2: a file cannot\n"
        "be read.\n",
    .run = run_check,
};
