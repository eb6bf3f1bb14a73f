#include "cli/check/arguments.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "toolchain/check/reader.h"
#include "util/number.h"

enum check_option {
    OPTION_FORMAT = OPTION_FIRST,
    OPTION_JSON,
    OPTION_SARIF,
    OPTION_JOBS,
    OPTION_MAX_ERRORS,
    OPTION_NO_CFI,
    OPTION_CODE,
    OPTION_NO_CODE,
    OPTION_RAW,
    OPTION_VMA,
    OPTION_EXPLAIN,
    OPTION_STATS,
    OPTION_EXTRACT,
    OPTION_REQUIRE,
    OPTION_KERNEL,
    OPTION_READER,
    OPTION_MIN_COVERAGE,
    OPTION_ONLY,
    OPTION_IGNORE,
    OPTION_ERROR,
    OPTION_WARNING,
    OPTION_NOTE,
    OPTION_ALLOW_KNOWN,
    OPTION_BASELINE,
    OPTION_WRITE_BASELINE
};

static const struct tool_option usual[] = {
    { OPTION_FORMAT, 0, "format", TAKES_ARGUMENT, "FORMAT",
      "text; json, one object (toolchain/docs/check.schema.json); sarif, SARIF 2.1.0; github, "
      "annotations "
      "of a workflow" },
    { OPTION_JSON, 0, "json", TAKES_NOTHING, NULL, "the same as --format=json" },
    { OPTION_SARIF, 0, "sarif", TAKES_NOTHING, NULL, "the same as --format=sarif" },
    { OPTION_JOBS, 'j', "jobs", TAKES_ARGUMENT, "N",
      "check N files at a time; what is said keeps the order of the files" },
    { OPTION_MAX_ERRORS, 0, "max-errors", TAKES_ARGUMENT, "N",
      "findings of a file that are printed, 100 if not given, and of one code 8; the rest is "
      "counted. 0: all" },
    { OPTION_NO_CFI, 0, "no-cfi", TAKES_NOTHING, NULL, "without the comparison with .eh_frame" },
    { OPTION_CODE, 0, "code", TAKES_NOTHING, NULL,
      "compare the rows with the machine code. It is done by itself where .eh_frame does not have "
      "the function" },
    { OPTION_NO_CODE, 0, "no-code", TAKES_NOTHING, NULL, "never do that" },
    { OPTION_RAW, 0, "raw", TAKES_NOTHING, NULL,
      "FILE holds the bytes of a section, not an ELF file" },
    { OPTION_VMA, 0, "vma", TAKES_ARGUMENT, "ADDRESS", "address of a raw section; 0 if not given" },
    { OPTION_EXPLAIN, 0, "explain", TAKES_ARGUMENT, "CODE",
      "what a finding means, why it matters, and which tools write such sections; 'table' for one "
      "line a code (toolchain/docs/CHECKS.md), 'all' for every text" },
    { OPTION_STATS, 0, "stats", TAKES_NOTHING, NULL,
      "how the code is covered, by section, the functions that miss most, and what the table "
      "costs" },
    { OPTION_EXTRACT, 0, "extract", TAKES_ARGUMENT, "FDE",
      "everything about one function, for a bug report: bytes, rows, CFI and disassembly" },
    OPTIONS_END,
};

static const struct tool_option of_gates[] = {
    { OPTION_REQUIRE, 0, "require", TAKES_NOTHING, NULL,
      "a file with code and without .sframe is an error" },
    { OPTION_KERNEL, 0, "kernel", TAKES_NOTHING, NULL,
      "FILE is a kernel: no segment, no .eh_frame, and what its reader does not take is an error: "
      "versions 1 and 2, flexible rows, functions that are not sorted, two rows at one byte" },
    { OPTION_READER, 0, "reader", TAKES_ARGUMENT, "READER",
      "what this reader does not take is an error: glibc-2.42, glibc-2.43, glibc-2.44, "
      "libsframe-2.40, libsframe-2.44, libsframe-2.47, linux-unwind-user" },
    { OPTION_MIN_COVERAGE, 0, "min-coverage", TAKES_ARGUMENT, "functions=N|bytes=N",
      "so many percent of the code need rows; may be given for both" },
    { OPTION_ONLY, 0, "only", TAKES_ARGUMENT, "CODES",
      "nothing but these, and what --require and --min-coverage ask for" },
    { OPTION_IGNORE, 0, "ignore", TAKES_ARGUMENT, "CODES", "not these" },
    { OPTION_ERROR, 0, "error", TAKES_ARGUMENT, "CODES", "these are errors" },
    { OPTION_WARNING, 0, "warning", TAKES_ARGUMENT, "CODES", "these are warnings" },
    { OPTION_NOTE, 0, "note", TAKES_ARGUMENT, "CODES", "these are notes" },
    { OPTION_ALLOW_KNOWN, 0, "allow-known", TAKES_NOTHING, NULL,
      "faults that a release of binutils is known for are no failure" },
    { OPTION_BASELINE, 0, "baseline", TAKES_ARGUMENT, "FILE",
      "pass over the errors and warnings of FILE" },
    { OPTION_WRITE_BASELINE, 0, "write-baseline", TAKES_ARGUMENT, "FILE",
      "write all errors and warnings to FILE; exit status 0" },
    OPTIONS_END,
};

const struct option_group arguments_options[] = {
    { NULL, usual, NULL },
    { "As the gate of a build (codes: SF0501,SF02 - SF02 is all that begin so)", of_gates, NULL },
    OPTION_GROUPS_END,
};

/* Default limit of findings per file. */
enum { LIMIT = 100 };

/* Upper limit of --jobs. */
enum { JOBS_MAX = 256 };

static void take_number(struct arguments *a, uint64_t *out, const char *text)
{
    if (number_of_argument(text, out))
        return;
    a->wrong = text;
    a->wanted = "number";
}

static void take_format(struct arguments *a, const char *name)
{
    static const char *const names[] = { [REPORT_TEXT] = "text",
                                         [REPORT_JSON] = "json",
                                         [REPORT_SARIF] = "sarif",
                                         [REPORT_GITHUB] = "github" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            a->format = (enum report_format)i;
            return;
        }
    a->wrong = name;
    a->wanted = "format: text, json, sarif, github";
}

static void take_codes(struct arguments *a, const char *list, enum policy_action action)
{
    const char *wrong = policy_set(&a->policy, list, action);

    if (!wrong)
        return;
    a->wrong = wrong;
    a->wanted = "code, nor the beginning of one";
}

static void take_only(struct arguments *a, const char *list)
{
    const char *wrong = policy_only(&a->policy, list);

    if (!wrong)
        return;
    a->wrong = wrong;
    a->wanted = "code, nor the beginning of one";
}

static void take_coverage(struct arguments *a, const char *text)
{
    if (policy_min_coverage(&a->policy, text))
        return;
    a->wrong = text;
    a->wanted = "coverage: functions=N or bytes=N, in percent";
}

/*
 * The kernel refuses a section that is not sorted, or does not say so, or has an auxiliary header, no
 * functions, or version 3 without FUNC_START_PCREL; and a function with two rows at one byte.
 */
static void take_kernel(struct arguments *a)
{
    a->options.kernel = true;
    policy_set(&a->policy, "SF0110,SF0121,SF0123,SF0202,SF0203,SF0303", POLICY_ERROR);
}

static void take_reader(struct arguments *a, const char *name)
{
    a->options.reader = check_reader_find(name);
    if (a->options.reader)
        return;
    a->wrong = name;
    snprintf(a->readers, sizeof a->readers, "reader: ");
    check_reader_names(a->readers + strlen(a->readers), sizeof a->readers - strlen(a->readers));
    a->wanted = a->readers;
}

/* The options that say what matters. @return whether it is one */
static bool take_policy(struct arguments *a, int option)
{
    switch (option) {
    case OPTION_KERNEL: take_kernel(a); return true;
    case OPTION_READER: take_reader(a, optarg); return true;
    case OPTION_REQUIRE: a->policy.require = true; return true;
    case OPTION_MIN_COVERAGE: take_coverage(a, optarg); return true;
    case OPTION_ONLY: take_only(a, optarg); return true;
    case OPTION_IGNORE: take_codes(a, optarg, POLICY_IGNORE); return true;
    case OPTION_ERROR: take_codes(a, optarg, POLICY_ERROR); return true;
    case OPTION_WARNING: take_codes(a, optarg, POLICY_WARNING); return true;
    case OPTION_NOTE: take_codes(a, optarg, POLICY_NOTE); return true;
    case OPTION_ALLOW_KNOWN: a->policy.allow_known = true; return true;
    case OPTION_BASELINE: a->baseline = optarg; return true;
    case OPTION_WRITE_BASELINE: a->write_baseline = optarg; return true;
    default: return false;
    }
}

static void take(struct arguments *a, int option)
{
    switch (option) {
    case OPTION_JSON: a->format = REPORT_JSON; break;
    case OPTION_SARIF: a->format = REPORT_SARIF; break;
    case OPTION_FORMAT: take_format(a, optarg); break;
    case OPTION_NO_CFI: a->options.no_cfi = true; break;
    case OPTION_CODE: a->options.code = CHECK_CODE_ALL; break;
    case OPTION_NO_CODE: a->options.code = CHECK_CODE_NONE; break;
    case OPTION_RAW: a->options.raw = true; break;
    case OPTION_STATS: a->options.stats = true; break;
    case OPTION_EXPLAIN: a->explain = optarg; break;
    case OPTION_MAX_ERRORS: take_number(a, &a->limit, optarg); break;
    case OPTION_JOBS: take_number(a, &a->jobs, optarg); break;
    case OPTION_VMA:
        a->have_vma = true;
        take_number(a, &a->options.raw_address, optarg);
        break;
    case OPTION_EXTRACT:
        a->extract = true;
        take_number(a, &a->extract_fde, optarg);
        break;
    default: break;
    }
}

static enum tool_exit misfit(const struct tool_command *command, const struct arguments *a,
                             int files)
{
    if (a->wrong)
        return tool_misused(command, "'%s' is no %s", a->wrong, a->wanted);
    if (a->explain)
        return TOOL_DONE;
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

bool arguments_read(struct arguments *out, enum tool_exit *exit_status,
                    const struct tool_command *command, int argc, char **argv)
{
    *out = (struct arguments){ .limit = LIMIT, .jobs = 1 };
    for (int o; (o = options_next(command, argc, argv, exit_status)) != -1;) {
        if (o == '?')
            return false;
        if (!take_policy(out, o))
            take(out, o);
    }
    out->options.limit = (size_t)out->limit;
    *exit_status = misfit(command, out, argc - optind);
    return *exit_status == TOOL_DONE;
}
