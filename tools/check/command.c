/*
 * sfb check: is this .sframe right? The subcommand: its options.
 */
#include <stdio.h>
#include <string.h>

#include "../input.h"
#include "../number.h"
#include "extract.h"
#include "files.h"

enum {
    OPTION_JSON = TOOL_OPTION_FIRST,
    OPTION_SARIF,
    OPTION_FORMAT,
    OPTION_MAX_ERRORS,
    OPTION_NO_CFI,
    OPTION_RAW,
    OPTION_VMA,
    OPTION_EXPLAIN,
    OPTION_EXTRACT
};

/* Of a file, if nobody says otherwise. */
enum { LIMIT = 100 };

/* More processes than anybody has use for. */
enum { JOBS_MAX = 256 };

/* The options, as they are read. */
struct arguments {
    struct check_options options;
    enum report_format format;
    uint64_t limit, jobs;
    const char *not_a_number; /* the argument of an option that should be one; else NULL */
    bool have_vma, extract;
    uint64_t extract_fde;
};

static enum tool_exit check_files(const struct arguments *a, char **paths)
{
    struct run run = { .options = a->options };

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

static bool find_format(enum report_format *out, const char *name)
{
    static const char *const names[] = { [REPORT_TEXT] = "text",
                                         [REPORT_JSON] = "json",
                                         [REPORT_SARIF] = "sarif",
                                         [REPORT_GITHUB] = "github" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum report_format)i;
            return true;
        }
    return false;
}

static void read_number(struct arguments *a, uint64_t *out, const char *text)
{
    if (!number_of_argument(text, out))
        a->not_a_number = text;
}

static enum tool_exit misfit(const struct tool_command *command, const struct arguments *a,
                             int files)
{
    if (a->not_a_number)
        return tool_misused(command, "'%s' is no number", a->not_a_number);
    if (a->have_vma && !a->options.raw)
        return tool_misused(command, "--vma goes with --raw: an ELF file says where it is");
    if (a->jobs == 0 || a->jobs > JOBS_MAX)
        return tool_misused(command, "-j takes 1 to %d", JOBS_MAX);
    if (files == 0)
        return tool_misused(command, "no file given");
    if (a->extract && files != 1)
        return tool_misused(command, "--extract takes one file");
    return TOOL_DONE;
}

static enum tool_exit run_check(const struct tool_command *command, int argc, char **argv)
{
    static const struct option options[] = { TOOL_OPTION_HELP_ENTRY,
                                             { "json", no_argument, NULL, OPTION_JSON },
                                             { "sarif", no_argument, NULL, OPTION_SARIF },
                                             { "format", required_argument, NULL, OPTION_FORMAT },
                                             { "jobs", required_argument, NULL, 'j' },
                                             { "max-errors", required_argument, NULL,
                                               OPTION_MAX_ERRORS },
                                             { "no-cfi", no_argument, NULL, OPTION_NO_CFI },
                                             { "raw", no_argument, NULL, OPTION_RAW },
                                             { "vma", required_argument, NULL, OPTION_VMA },
                                             { "explain", required_argument, NULL, OPTION_EXPLAIN },
                                             { "extract", required_argument, NULL, OPTION_EXTRACT },
                                             { NULL, 0, NULL, 0 } };
    struct arguments a = { .limit = LIMIT, .jobs = 1 };
    enum tool_exit exit_status;

    for (int o; (o = tool_option(command, argc, argv, options, &exit_status)) != -1;) {
        switch (o) {
        case '?': return exit_status;
        case OPTION_JSON: a.format = REPORT_JSON; break;
        case OPTION_SARIF: a.format = REPORT_SARIF; break;
        case OPTION_FORMAT:
            if (!find_format(&a.format, optarg))
                return tool_misused(command, "'%s' is none of text, json, sarif and github",
                                    optarg);
            break;
        case OPTION_NO_CFI: a.options.no_cfi = true; break;
        case OPTION_RAW: a.options.raw = true; break;
        case OPTION_EXPLAIN: return explain(command, optarg);
        case OPTION_MAX_ERRORS: read_number(&a, &a.limit, optarg); break;
        case 'j': read_number(&a, &a.jobs, optarg); break;
        case OPTION_VMA:
            a.have_vma = true;
            read_number(&a, &a.options.raw_address, optarg);
            break;
        case OPTION_EXTRACT:
            a.extract = true;
            read_number(&a, &a.extract_fde, optarg);
            break;
        default: break;
        }
    }
    exit_status = misfit(command, &a, argc - optind);
    if (exit_status != TOOL_DONE)
        return exit_status;
    if (a.extract)
        return extract_one(&a, argv[optind]);
    a.options.limit = (size_t)a.limit;
    return check_files(&a, argv + optind);
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
