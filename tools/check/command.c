/*
 * sfb check: is this .sframe right? The subcommand: options, files, members of archives.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../input.h"
#include "../number.h"
#include "../tool.h"
#include "extract.h"
#include "object/archive.h"
#include "object/foreign.h"
#include "report.h"

enum {
    OPTION_JSON = TOOL_OPTION_FIRST,
    OPTION_SARIF,
    OPTION_MAX_ERRORS,
    OPTION_NO_CFI,
    OPTION_RAW,
    OPTION_VMA,
    OPTION_EXPLAIN,
    OPTION_EXTRACT
};

/* Of a file, if nobody says otherwise. */
enum { LIMIT = 100 };

struct run {
    struct check_options options;
    struct report report;
    enum tool_exit exit_status;
    const char *path;
    bool no_memory;
    bool extract;
    uint64_t extract_fde;
};

/* ---- progress ---- */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double started, shown;

static void show_progress(const char *name, uint64_t done, uint64_t all)
{
    const double now = seconds();
    char escaped[61];

    if (now - started < 1.0 || now - shown < 0.2)
        return;
    shown = now;
    foreign_escape(escaped, sizeof escaped, name, strlen(name), FOREIGN_NAME);
    fprintf(stderr, "\r\033[Ksfb: %s: %.0f %%", escaped,
            all > 0 ? 100.0 * (double)done / (double)all : 0.0);
}

static void clear_progress(void)
{
    if (shown > 0)
        fprintf(stderr, "\r\033[K");
    shown = 0;
}

/* ---- files ---- */

static void check_one(struct run *run, const char *name, uint8_t *image, size_t size,
                      uint64_t member_at)
{
    struct check_result result;
    const struct report_file file = { name, run->path, member_at, &result };
    const struct object_fault *fault = &result.fault;

    check_image(&result, name, image, size, &run->options);
    clear_progress();
    run->no_memory |= !report_file(&run->report, &file);
    if (fault->cause)
        run->exit_status = tool_complain_of(TOOL_USAGE, name, fault);
    else if (findings_bad(&result.findings))
        run->exit_status = tool_worse(run->exit_status, TOOL_BAD_DATA);
    check_result_free(&result);
}

/* What is visited of an archive. */
struct members {
    struct run *run;
    const struct input *input;
};

static void check_member(void *data, const struct object_member *member)
{
    const struct members *m = data;
    char *name = NULL;

    if (asprintf(&name, "%s(%s)", m->input->name, member->name) < 0) {
        m->run->no_memory = true;
        return;
    }
    check_one(m->run, name, m->input->data + member->at, member->size, member->at);
    free(name);
}

static void check_archive(struct run *run, const struct input *input)
{
    struct members members = { run, input };
    bool any;

    if (!object_archive_members(input->data, input->size, check_member, &members, &any))
        run->exit_status =
            tool_complain(TOOL_USAGE, "%s: +0x0: the archive cannot be read", input->name);
    else if (!any)
        run->exit_status = tool_complain(
            TOOL_USAGE, "%s: +0x0: an archive without members that can be read", input->name);
}

static void check_input(struct run *run, const struct input *input)
{
    run->path = input->name;
    switch (run->options.raw ? OBJECT_NO_ARCHIVE : object_archive_kind(input->data, input->size)) {
    case OBJECT_NO_ARCHIVE: check_one(run, input->name, input->data, input->size, 0); break;
    case OBJECT_ARCHIVE: check_archive(run, input); break;
    case OBJECT_THIN_ARCHIVE:
        run->exit_status = tool_complain(
            TOOL_USAGE, "%s: +0x0: a thin archive: check its members, which are files",
            input->name);
        break;
    }
}

static enum tool_exit check_files(struct run *run, enum report_format format, char **paths)
{
    run->no_memory = !report_open(&run->report, format);
    started = seconds();
    if (isatty(STDERR_FILENO))
        run->options.progress = show_progress;
    for (; !run->no_memory && *paths; paths++) {
        struct input input;

        if (!input_read(&input, *paths)) {
            run->exit_status = TOOL_USAGE;
            run->report.unreadable++;
            continue;
        }
        check_input(run, &input);
        input_free(&input);
    }
    if (run->no_memory || !report_close(&run->report))
        return tool_complain(TOOL_USAGE, "out of memory");
    return run->exit_status;
}

static enum tool_exit extract_one(const struct run *run, const char *path)
{
    enum tool_exit exit_status;
    struct input input;

    if (!input_read(&input, path))
        return TOOL_USAGE;
    exit_status = extract_function(&input, run->extract_fde, &run->options);
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
    static const struct option options[] = { TOOL_OPTION_HELP_ENTRY,
                                             { "json", no_argument, NULL, OPTION_JSON },
                                             { "sarif", no_argument, NULL, OPTION_SARIF },
                                             { "max-errors", required_argument, NULL,
                                               OPTION_MAX_ERRORS },
                                             { "no-cfi", no_argument, NULL, OPTION_NO_CFI },
                                             { "raw", no_argument, NULL, OPTION_RAW },
                                             { "vma", required_argument, NULL, OPTION_VMA },
                                             { "explain", required_argument, NULL, OPTION_EXPLAIN },
                                             { "extract", required_argument, NULL, OPTION_EXTRACT },
                                             { NULL, 0, NULL, 0 } };
    struct run run = { .options = { .limit = LIMIT } };
    enum report_format format = REPORT_TEXT;
    const char *wrong = NULL;
    bool have_vma = false;
    uint64_t limit = LIMIT;

    for (int o; (o = tool_option(command, argc, argv, options, &run.exit_status)) != -1;) {
        switch (o) {
        case '?': return run.exit_status;
        case OPTION_JSON: format = REPORT_JSON; break;
        case OPTION_SARIF: format = REPORT_SARIF; break;
        case OPTION_NO_CFI: run.options.no_cfi = true; break;
        case OPTION_RAW: run.options.raw = true; break;
        case OPTION_EXPLAIN: return explain(command, optarg);
        case OPTION_MAX_ERRORS: wrong = number_of_argument(optarg, &limit) ? wrong : optarg; break;
        case OPTION_VMA:
            have_vma = true;
            wrong = number_of_argument(optarg, &run.options.raw_address) ? wrong : optarg;
            break;
        case OPTION_EXTRACT:
            run.extract = true;
            wrong = number_of_argument(optarg, &run.extract_fde) ? wrong : optarg;
            break;
        default: break;
        }
    }
    if (wrong)
        return tool_misused(command, "'%s' is no number", wrong);
    if (have_vma && !run.options.raw)
        return tool_misused(command, "--vma goes with --raw: an ELF file says where it is");
    if (optind == argc)
        return tool_misused(command, "no file given");
    if (run.extract && optind + 1 != argc)
        return tool_misused(command, "--extract takes one file");
    if (run.extract)
        return extract_one(&run, argv[optind]);
    run.options.limit = (size_t)limit;
    return check_files(&run, format, argv + optind);
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
        "  --json           all of it as one JSON object\n"
        "  --sarif          the findings as SARIF 2.1.0\n"
        "  --max-errors N   findings of a file that are printed, 100 if not given, and of one "
        "code\n"
        "                   8; the rest is counted. 0: all\n"
        "  --no-cfi         without the comparison with .eh_frame\n"
        "  --raw            FILE holds the bytes of a section, not an ELF file\n"
        "  --vma ADDRESS    address of a raw section; 0 if not given\n"
        "  --explain CODE   what a finding means, why it matters, and who writes such a section;\n"
        "                   'all' for every code (docs/CHECKS.md)\n"
        "  --extract FDE    everything about one function, for a bug report: bytes, rows, CFI and\n"
        "                   disassembly\n"
        "  --help           this text\n"
        "\n"
        "Exit status 1: there are errors or warnings; notes alone leave it at 0. 2: a file cannot\n"
        "be read.\n",
    .run = run_check,
};
