/* sfb record: runs a program and records where it spends CPU time, or what it allocates. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/record/continuous.h"
#include "cli/record/engine.h"
#include "cli/record/limits.h"
#include "cli/record/outside.h"
#include "cli/record/record_options.h"
#include "cli/record/session.h"
#include "profiler/collector/heap/heap_process.h"
#include "sfb/recording.h"
#include "util/number.h"

/* As SFB_SHARED_FRAMES_LEAST and _MOST: profiler/protocol/shared.h. */
enum { FRAMES_DEFAULT = 4096, FRAMES_LEAST = 16, FRAMES_MOST = 16384 };

enum { WALL_RATE_DEFAULT = 100, WALL_RATE_MAX = 1000 };
enum { RATE_DEFAULT = 997, RATE_MAX = 20000, HEAP_RATE_DEFAULT = 512 << 10 };

static const uint64_t heap_rate_max = UINT64_C(1) << 40, snapshot_default_ns = 10000000000;

/* A number with k, M or G behind it. */
static bool parse_size(const char *text, uint64_t *out)
{
    static const char units[] = "kMGK";
    size_t size = strlen(text);
    const char *unit = size > 0 ? strchr(units, text[size - 1]) : NULL;
    unsigned shift = unit ? 10 * ((unsigned)(unit - units) % 3 + 1) : 0;

    if (number_parse(text, size - (unit != NULL), out) != NULL || *out == 0 ||
        *out > UINT64_MAX >> shift)
        return false;
    *out <<= shift;
    return true;
}

static bool misused(const struct record_request *r, enum tool_exit *exit_status, const char *what,
                    const char *text)
{
    *exit_status = tool_misused(r->command, "'%s' %s", text, what);
    return false;
}

/* What was asked for, to see what does not go together. */
struct asked {
    bool cpu, rate, engine, frames; /* of CPU time */
    const char *heap;               /* an option that is of the heap alone */
    const char *outside;            /* an option that is of running processes alone */
    bool agent;                     /* its path, and no recording */
    struct continuous_request continuous;
    const char *of_continuous; /* an option that is of --every alone */
    const char *of_upload;     /* and one of --upload */
};

static bool take_heap_rate(struct record_request *r, enum tool_exit *exit_status)
{
    r->heap = true;
    r->heap_rate = HEAP_RATE_DEFAULT;
    if (optarg && (!parse_size(optarg, &r->heap_rate) || r->heap_rate > heap_rate_max))
        return misused(r, exit_status, "is no mean number of bytes: 1 to 1024G", optarg);
    return true;
}

/* @return false after a complaint */
static bool take_heap_option(struct record_request *r, int option, struct asked *asked,
                             enum tool_exit *exit_status)
{
    uint64_t value;

    switch (option) {
    case OPTION_HEAP: r->heap = true; return true;
    case OPTION_HEAP_RATE: return take_heap_rate(r, exit_status);
    case OPTION_HEAP_MMAP:
        r->heap_mmap = true;
        asked->heap = "--heap-mmap";
        return true;
    case OPTION_HEAP_WAIT:
        r->heap_wait = true;
        asked->heap = "--heap-wait";
        return true;
    case OPTION_PYTHON_OBJECTS:
        r->python_objects = true;
        asked->heap = "--python-objects";
        return true;
    case OPTION_AGGREGATE:
        r->aggregate = true;
        asked->heap = "--aggregate";
        return true;
    case OPTION_SNAPSHOT:
        asked->heap = "--snapshot";
        return seconds_of_argument(optarg, &r->snapshot_ns) ||
               misused(r, exit_status, "is no number of seconds", optarg);
    case OPTION_TEMPORARY_WITHIN:
        asked->heap = "--temporary-within";
        if (!number_of_argument(optarg, &value) || value == 0 || value > SFB_HEAP_WITHIN_MOST)
            return misused(r, exit_status, "is no number of events: 1 to 64", optarg);
        r->temporary_within = (uint32_t)value;
        return true;
    case OPTION_FAIL_ABOVE:
        asked->heap = "--fail-above";
        return parse_size(optarg, &r->fail_above) ||
               misused(r, exit_status, "is no size: bytes, or with k, M or G", optarg);
    case OPTION_FAIL_ON_LEAK:
        r->fail_on_leak = true;
        asked->heap = "--fail-on-leak";
        return true;
    case OPTION_SUPPRESSIONS:
        r->suppressions = optarg;
        asked->heap = "--suppressions";
        return true;
    default: return false;
    }
}

/* @return false after a complaint */
static bool take_continuous_option(struct record_request *r, int option, struct asked *asked,
                                   enum tool_exit *exit_status)
{
    struct continuous_request *c = &asked->continuous;

    switch (option) {
    case OPTION_EVERY:
        return (seconds_of_argument(optarg, &c->every_ns) && c->every_ns > 0) ||
               misused(r, exit_status, "is no number of seconds", optarg);
    case OPTION_SPOOL: c->spool = optarg; break;
    case OPTION_KEEP:
        asked->of_continuous = "--keep";
        return parse_size(optarg, &c->keep) ||
               misused(r, exit_status, "is no size: bytes, or with k, M or G", optarg);
    case OPTION_UPLOAD: c->upload.target.url = optarg; break;
    case OPTION_UPLOAD_AS:
        asked->of_upload = "--upload-as";
        c->upload.pprof = strcmp(optarg, "pprof") == 0;
        return c->upload.pprof || strcmp(optarg, "otlp") == 0 ||
               misused(r, exit_status, "is no format: otlp or pprof", optarg);
    case OPTION_UPLOAD_HEADERS:
        asked->of_upload = "--upload-headers";
        c->upload.target.headers = optarg;
        return true;
    case OPTION_UPLOAD_CA:
        asked->of_upload = "--upload-ca";
        c->upload.target.ca = optarg;
        return true;
    default: return take_heap_option(r, option, asked, exit_status);
    }
    asked->of_continuous = option == OPTION_SPOOL ? "--spool" : "--upload";
    return true;
}

/* Of --every alone. */
static bool keeps_going(struct record_request *r, const struct asked *asked,
                        enum tool_exit *exit_status)
{
    const struct continuous_request *c = &asked->continuous;

    if (!c->spool)
        *exit_status = tool_misused(r->command, "--every goes with --spool DIR");
    else if (r->heap || r->output || r->duration_ns > 0 || r->delay_ns > 0 || r->paused)
        *exit_status = tool_misused(r->command, "--every goes without %s",
                                    r->heap       ? "--heap"
                                    : r->output   ? "--output"
                                    : r->delay_ns ? "--delay"
                                    : r->paused   ? "--paused"
                                                  : "--duration");
    else if (asked->frames || (asked->engine && r->engine != SFB_ENGINE_LOOKS))
        *exit_status = tool_misused(r->command, "--every records from outside: leave out %s",
                                    asked->frames ? "--max-frames" : "--engine, or --engine looks");
    else if (c->keep > 0 && r->max_size > c->keep / 2)
        *exit_status =
            tool_misused(r->command, "--max-size is of one recording: at most half of --keep");
    else
        return true;
    return false;
}

static bool goes_on(struct record_request *r, const struct asked *asked,
                    enum tool_exit *exit_status)
{
    const struct continuous_request *c = &asked->continuous;

    if (c->every_ns == 0 && (asked->of_continuous || asked->of_upload))
        *exit_status = tool_misused(r->command, "%s goes with --every S",
                                    asked->of_continuous ? asked->of_continuous : asked->of_upload);
    else if (asked->of_upload && !c->upload.target.url)
        *exit_status = tool_misused(r->command, "%s goes with --upload URL", asked->of_upload);
    else if (c->every_ns > 0)
        return keeps_going(r, asked, exit_status);
    else
        return true;
    return false;
}

static bool time_goes_together(struct record_request *r, const struct asked *asked,
                               enum tool_exit *exit_status)
{
    const char *cpu = asked->cpu      ? "--cpu"
                      : asked->rate   ? "--rate"
                      : asked->engine ? "--engine"
                      : asked->frames ? "--max-frames"
                                      : NULL;

    if (r->heap && cpu)
        *exit_status = tool_misused(r->command,
                                    "%s is of CPU time, and one recording has that or "
                                    "the heap: leave out %s or --heap",
                                    cpu, cpu);
    else if (r->heap && r->wall_hz > 0)
        *exit_status = tool_misused(r->command, "--wall is of time, and one recording has that or "
                                                "the heap: leave out --wall or --heap");
    else if (r->wall_hz > 0 &&
             (asked->rate || asked->frames || (asked->engine && r->engine != SFB_ENGINE_LOOKS)))
        *exit_status =
            tool_misused(r->command, "--wall looks from outside, --wall-rate times a second: leave "
                                     "out --rate, --engine and --max-frames; or --engine looks");
    else
        return true;
    return false;
}

static bool heap_goes_together(struct record_request *r, const struct asked *asked,
                               enum tool_exit *exit_status)
{
    if (r->heap_rate > 0 && r->heap_mmap)
        *exit_status = tool_misused(r->command, "mappings are not sampled: --heap-mmap is for "
                                                "--heap, not for --heap-rate");
    else if (r->heap_rate > 0 && r->fail_on_leak)
        *exit_status = tool_misused(r->command, "samples do not show each leak: --fail-on-leak is "
                                                "for --heap, not for --heap-rate");
    else if (r->suppressions && !r->fail_on_leak)
        *exit_status = tool_misused(r->command, "--suppressions goes with --fail-on-leak");
    else if (!r->heap && asked->heap)
        *exit_status = tool_misused(r->command, "%s needs --heap or --heap-rate", asked->heap);
    else
        return true;
    return false;
}

static bool goes_together(struct record_request *r, const struct asked *asked,
                          enum tool_exit *exit_status)
{
    return time_goes_together(r, asked, exit_status) && heap_goes_together(r, asked, exit_status);
}

/* Of processes that run: they have no agent. */
static bool goes_from_outside(struct record_request *r, const struct asked *asked, bool program,
                              enum tool_exit *exit_status)
{
    const bool outside = r->pid != 0 || r->all;

    if (r->pid != 0 && r->all)
        *exit_status = tool_misused(r->command, "--pid and --all: one of them");
    else if (outside && program)
        *exit_status =
            tool_misused(r->command, "%s records what runs already: no program goes with it",
                         r->all ? "--all" : "--pid PID");
    else if (outside && r->heap)
        *exit_status =
            tool_misused(r->command, "the heap takes an agent, which a running process has "
                                     "not: start it with 'sfb record --heap'");
    else if (outside && asked->engine && r->engine != SFB_ENGINE_LOOKS)
        *exit_status = tool_misused(r->command, "--engine is of an agent: leave it out; or "
                                                "--engine looks");
    else if (!outside && r->wall_hz == 0 && r->engine == SFB_ENGINE_LOOKS)
        *exit_status = tool_misused(r->command, "--engine looks goes with --pid or --all");
    else if (!outside && asked->outside)
        *exit_status = tool_misused(r->command, "%s goes with --pid or --all", asked->outside);
    else
        return true;
    return false;
}

/* @return false after a complaint */
static bool take_option(struct record_request *r, int option, struct asked *asked,
                        enum tool_exit *exit_status)
{
    uint64_t value;

    switch (option) {
    case OPTION_CPU: asked->cpu = true; return true;
    case OPTION_WALL: r->wall_hz = r->wall_hz > 0 ? r->wall_hz : WALL_RATE_DEFAULT; return true;
    case OPTION_WALL_RATE:
        if (!number_of_argument(optarg, &value) || value == 0 || value > WALL_RATE_MAX)
            return misused(r, exit_status, "is no rate: 1 to 1000 looks a second", optarg);
        r->wall_hz = (uint32_t)value;
        return true;
    case OPTION_OUTPUT:
        if (strcmp(optarg, "-") == 0)
            return misused(r, exit_status, "is no file: a recording is not written to a pipe",
                           optarg);
        r->output = optarg;
        return true;
    case OPTION_FORCE: r->force = true; return true;
    case OPTION_QUIET: r->quiet = true; return true;
    case OPTION_PRINT_AGENT:
        asked->agent = true;
        r->heap = strcmp(optarg, "heap") == 0;
        return r->heap || strcmp(optarg, "cpu") == 0 ||
               misused(r, exit_status, "is no agent: cpu or heap", optarg);
    case OPTION_PID:
        if (!number_of_argument(optarg, &value) || value == 0 || value > INT32_MAX)
            return misused(r, exit_status, "is no number of a process", optarg);
        r->pid = (pid_t)value;
        return true;
    case OPTION_ALL: r->all = true; return true;
    case OPTION_DELAY:
        asked->outside = "--delay";
        return seconds_of_argument(optarg, &r->delay_ns) ||
               misused(r, exit_status, "is no number of seconds", optarg);
    case OPTION_KERNEL:
        asked->outside = "--kernel";
        r->kernel = true;
        return true;
    case OPTION_LABEL: {
        const char *fault = labels_parse(&r->labels, optarg);

        return !fault || misused(r, exit_status, fault, optarg);
    }
    case OPTION_PAUSED: r->paused = true; return true;
    case OPTION_NO_CHILDREN: r->no_children = true; return true;
    case OPTION_PROGRESS: r->progress = true; return true;
    case OPTION_RATE:
        if (!number_of_argument(optarg, &value) || value == 0 || value > RATE_MAX)
            return misused(r, exit_status, "is no rate: 1 to 20000 samples a second", optarg);
        r->rate_hz = (uint32_t)value;
        asked->rate = true;
        return true;
    case OPTION_MAX_FRAMES:
        if (!number_of_argument(optarg, &value) || value < FRAMES_LEAST || value > FRAMES_MOST)
            return misused(r, exit_status, "is no number of frames: 16 to 16384", optarg);
        r->max_frames = (uint32_t)value;
        asked->frames = true;
        return true;
    case OPTION_DURATION:
        return seconds_of_argument(optarg, &r->duration_ns) ||
               misused(r, exit_status, "is no number of seconds", optarg);
    case OPTION_MAX_SIZE:
        return parse_size(optarg, &r->max_size) ||
               misused(r, exit_status, "is no size: bytes, or with k, M or G", optarg);
    case OPTION_ENGINE:
        asked->engine = true;
        return record_engine_parse(optarg, &r->engine) ||
               misused(r, exit_status, "is no engine: perf, perf-user, timer, sampler", optarg);
    default: return take_continuous_option(r, option, asked, exit_status);
    }
}

static int execute(const struct record_request *r, const struct continuous_request *continuous)
{
    static char path[PATH_MAX], agent[PATH_MAX];
    bool outside;
    const int failed = record_find_program(path, r->arguments[0], r->heap, &outside);

    if (failed != 0)
        return failed;
    if (continuous->every_ns > 0)
        return record_continuously(r, continuous, path);
    if (outside && r->heap)
        return (int)tool_complain(TOOL_FAILED,
                                  "record: %s is statically linked, or has other rights: no agent "
                                  "can be loaded, and the heap takes one",
                                  path);
    if (outside || r->wall_hz > 0)
        return record_outside_program(r, path);
    if (r->heap && (!record_takes_heap_agent(path) || !record_limits_read(r)))
        return TOOL_FAILED;
    return record_find_agent(agent, r->heap) ? record_session(r, path, agent) : TOOL_FAILED;
}

/* For LD_PRELOAD of programs that are not started by this command. */
static enum tool_exit print_agent(bool heap)
{
    static char agent[PATH_MAX];

    if (!record_find_agent(agent, heap))
        return TOOL_FAILED;
    puts(agent);
    return TOOL_DONE;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    struct record_request r = { .command = command,
                                .rate_hz = RATE_DEFAULT,
                                .max_frames = FRAMES_DEFAULT };
    enum tool_exit exit_status = TOOL_DONE;
    struct asked asked = { .continuous = { .keep = UINT64_C(1) << 30 } };
    bool good = true;

    for (int o; good && (o = options_next(command, argc, argv, &exit_status)) != -1;)
        good = o != '?' && take_option(&r, o, &asked, &exit_status);
    if (good && asked.agent)
        return print_agent(r.heap);
    good = good && goes_together(&r, &asked, &exit_status) && goes_on(&r, &asked, &exit_status) &&
           goes_from_outside(&r, &asked, optind < argc, &exit_status);
    if (good && optind == argc && r.pid == 0 && !r.all) {
        exit_status = tool_misused(command, "no program given");
        good = false;
    }
    /* Statuses below 125 are the program's. */
    if (!good)
        return exit_status == TOOL_DONE ? TOOL_DONE : TOOL_FAILED;
    r.arguments = argv + optind;
    if (r.heap)
        r.rate_hz = 0;
    if (r.aggregate && r.snapshot_ns == 0)
        r.snapshot_ns = snapshot_default_ns;
    if (!record_keep_streams())
        return tool_complain(TOOL_FAILED, "record: /dev/null: %s", strerror(errno));
    if (r.pid != 0 || r.all)
        return (enum tool_exit)(asked.continuous.every_ns > 0
                                    ? record_continuously(&r, &asked.continuous, NULL)
                                    : record_outside(&r));
    return (enum tool_exit)execute(&r, &asked.continuous);
}

const struct tool_command tool_record = {
    .name = "record",
    .summary = "run a program, and record where CPU time goes or what it allocates",
    .usage = "sfb record [OPTION...] [--] PROGRAM [ARGUMENT...]\nsfb record --pid PID|--all "
             "[OPTION...]\nsfb record --every S --spool DIR [OPTION...] [--pid "
             "PID|--all|PROGRAM...]\nsfb record --print-agent cpu|heap",
    .about =
        "Runs a program and samples the stacks of its threads, by the CPU time that they use; or "
        "records what it allocates. The recording is a file that `sfb report` reads. The program "
        "needs no preparation: an agent is loaded into it, and into the programs that it "
        "starts.\n",
    .options = record_options,
    .habits = &record_habits,
    .more =
        "The recording ends when all recorded processes have ended, or when the program has "
        "failed. Ctrl-C is the program's: sfb record waits for it. SIGINT, SIGTERM, SIGHUP or "
        "SIGQUIT that another process sends goes to the program; a second one ends the recording, "
        "and leaves the program alone.\n"
        "\n"
        "SFB_AGENT in the environment names the agent's file, where it is not beside sfb.\n"
        "profiler/docs/PROFILING.md is the manual.\n",
    .exits = "Exit status: the program's; 1 if that is 0 and --fail-above or --fail-on-leak fails; "
             "128+N if signal N ended it; 125 the recording failed; "
             "126 the program cannot be executed; 127 it was not found.\n",
    .runs_program = true,
    .run = run,
};
