#include "arguments.h"

#include <string.h>

#include "../number.h"

enum {
    OPTION_JSON = TOOL_OPTION_FIRST,
    OPTION_SARIF,
    OPTION_FORMAT,
    OPTION_MAX_ERRORS,
    OPTION_NO_CFI,
    OPTION_CODE,
    OPTION_NO_CODE,
    OPTION_RAW,
    OPTION_VMA,
    OPTION_EXPLAIN,
    OPTION_EXTRACT,
    OPTION_STATS,
    OPTION_KERNEL,
    OPTION_REQUIRE,
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

/* Of a file, if nobody says otherwise. */
enum { LIMIT = 100 };

/* More processes than anybody has use for. */
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

/* The options that say what matters. @return whether it is one */
static bool take_policy(struct arguments *a, int option)
{
    switch (option) {
    case OPTION_KERNEL: take_kernel(a); return true;
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
    case 'j': take_number(a, &a->jobs, optarg); break;
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
    static const struct option options[] = {
        TOOL_OPTION_HELP_ENTRY,
        { "json", no_argument, NULL, OPTION_JSON },
        { "sarif", no_argument, NULL, OPTION_SARIF },
        { "format", required_argument, NULL, OPTION_FORMAT },
        { "jobs", required_argument, NULL, 'j' },
        { "max-errors", required_argument, NULL, OPTION_MAX_ERRORS },
        { "no-cfi", no_argument, NULL, OPTION_NO_CFI },
        { "code", no_argument, NULL, OPTION_CODE },
        { "no-code", no_argument, NULL, OPTION_NO_CODE },
        { "raw", no_argument, NULL, OPTION_RAW },
        { "vma", required_argument, NULL, OPTION_VMA },
        { "explain", required_argument, NULL, OPTION_EXPLAIN },
        { "extract", required_argument, NULL, OPTION_EXTRACT },
        { "kernel", no_argument, NULL, OPTION_KERNEL },
        { "stats", no_argument, NULL, OPTION_STATS },
        { "require", no_argument, NULL, OPTION_REQUIRE },
        { "min-coverage", required_argument, NULL, OPTION_MIN_COVERAGE },
        { "only", required_argument, NULL, OPTION_ONLY },
        { "ignore", required_argument, NULL, OPTION_IGNORE },
        { "error", required_argument, NULL, OPTION_ERROR },
        { "warning", required_argument, NULL, OPTION_WARNING },
        { "note", required_argument, NULL, OPTION_NOTE },
        { "allow-known", no_argument, NULL, OPTION_ALLOW_KNOWN },
        { "baseline", required_argument, NULL, OPTION_BASELINE },
        { "write-baseline", required_argument, NULL, OPTION_WRITE_BASELINE },
        { NULL, 0, NULL, 0 }
    };

    *out = (struct arguments){ .limit = LIMIT, .jobs = 1 };
    for (int o; (o = tool_option(command, argc, argv, options, exit_status)) != -1;) {
        if (o == '?')
            return false;
        if (!take_policy(out, o))
            take(out, o);
    }
    out->options.limit = (size_t)out->limit;
    *exit_status = misfit(command, out, argc - optind);
    return *exit_status == TOOL_DONE;
}
