/* sfb collect: the files of a report's or a process's modules, for another machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/collect/collection.h"
#include "cli/crash_report.h"
#include "cli/options.h"
#include "cli/places.h"
#include "cli/tool.h"
#include "cli/tool_files.h"
#include "cli/tool_reporter.h"
#include "symbols/symbols.h"
#include "util/number.h"
#ifdef SFB_HAVE_PROFILER
#include "cli/collect/recording_modules.h"
#endif

enum collect_option { OPTION_OUTPUT = OPTION_FIRST, OPTION_PID, OPTION_MAPS };

static bool is_wanted(void *user, const struct object_module *module)
{
    (void)user;
    (void)module;
    return true;
}

/* --- the command ------------------------------------------------------------------------------- */

struct request {
    const struct tool_command *command;
    const char *maps, *output, *path;
    pid_t pid;
    struct places places;
};

/* @return whether there was a report */
static bool collect_reports(struct collection *c, struct symbols *symbols,
                            const struct input *input, enum tool_exit *exit_status)
{
    struct crash_report report = { .headline = NULL };
    size_t offset = 0;
    bool found = false;

    for (; crash_report_read(&report, input, &offset, exit_status); found = true) {
        if (symbols_use_modules(symbols, report.modules, report.module_count))
            symbols_each_module(symbols, is_wanted, collection_add, c);
        crash_report_free(&report);
    }
    return found;
}

#ifdef SFB_HAVE_PROFILER
static bool is_recording(const struct input *input)
{
    return recording_modules_are_in(input);
}

static bool collect_recording(struct collection *c, struct symbols *symbols,
                              const struct input *input, enum tool_exit *exit_status)
{
    return recording_modules_each(input, symbols, collection_add, c, exit_status);
}
#else
static bool is_recording(const struct input *input)
{
    (void)input;
    return false;
}

static bool collect_recording(struct collection *c, struct symbols *symbols,
                              const struct input *input, enum tool_exit *exit_status)
{
    (void)c;
    (void)symbols;
    (void)input;
    (void)exit_status;
    return false;
}
#endif

/* Takes what says which modules there are, and puts it into the file, too. */
static bool collect_input(const struct request *r, struct collection *c, struct symbols *symbols,
                          struct input *input, enum tool_exit *exit_status)
{
    const struct reporter reporter = tool_reporter(exit_status);
    const char *member = "maps";
    char maps[32];

    if (r->pid != 0)
        snprintf(maps, sizeof maps, "/proc/%d/maps", (int)r->pid);
    if (r->pid != 0 && !symbols_add_process(symbols, r->pid, &reporter))
        return false;
    if (r->maps && !symbols_add_maps(symbols, r->maps, &reporter))
        return false;
    if (!tool_read(input, r->pid != 0 ? maps : r->maps ? r->maps : r->path)) {
        *exit_status = TOOL_USAGE;
        return false;
    }
    if (symbols_have_process(symbols)) {
        symbols_each_module(symbols, is_wanted, collection_add, c);
    } else if (is_recording(input)) {
        member = "recording.sfbr";
        if (!collect_recording(c, symbols, input, exit_status))
            return false;
    } else {
        member = "report";
        if (!collect_reports(c, symbols, input, exit_status)) {
            *exit_status = tool_complain(
                TOOL_BAD_DATA, "%s: no recording, and no crash report is in it", input->name);
            return false;
        }
    }
    return tar_add_file(&c->tar, member, input->data, input->size);
}

static enum tool_exit collect(const struct request *r, struct symbols *symbols)
{
    struct collection c = { .tar = { .mtime = (uint64_t)time(NULL) } };
    enum tool_exit exit_status = TOOL_DONE;
    struct input input = { .data = NULL };
    char *manifest = NULL;
    size_t size = 0;
    bool good;

    c.manifest = open_memstream(&manifest, &size);
    if (!c.manifest)
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    fprintf(c.manifest, "sfb-collect 1\n");
    good = collect_input(r, &c, symbols, &input, &exit_status);
    fclose(c.manifest);
    if (good) {
        tar_add_file(&c.tar, "manifest", manifest, size);
        if (!tar_write(&c.tar, r->output))
            exit_status = TOOL_USAGE;
    }
    if (c.missing)
        exit_status = tool_worse(exit_status, TOOL_BAD_DATA);
    tar_free(&c.tar);
    input_free(&input);
    free(manifest);
    return exit_status;
}

static bool take_option(struct request *r, int option, enum tool_exit *exit_status)
{
    uint64_t pid;

    switch (option) {
    case OPTION_OUTPUT: r->output = optarg; return true;
    case OPTION_MAPS: r->maps = optarg; return true;
    case OPTION_PID:
        if (number_of_argument(optarg, &pid) && pid > 0 && pid <= INT32_MAX) {
            r->pid = (pid_t)pid;
            return true;
        }
        *exit_status = tool_misused(r->command, "'%s' is no process id", optarg);
        return false;
    default: return places_take(&r->places, r->command, option, exit_status);
    }
}

static enum tool_exit execute(struct request *r, char **arguments, int count)
{
    struct symbols *symbols;
    enum tool_exit exit_status;

    if (!r->output)
        return tool_misused(r->command, "-o has to be given");
    if ((r->pid != 0) + (r->maps != NULL) + count > 1)
        return tool_misused(r->command, "more than one of --pid, --maps and a file given");
    r->path = count > 0 ? arguments[0] : "-";
    symbols = symbols_open(&r->places.object, &tool_complaints);
    if (!symbols)
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    exit_status = collect(r, symbols);
    symbols_close(symbols);
    return exit_status;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct request r = { .command = command };
    bool good = true;

    for (int o; good && (o = options_next(command, argc, argv, &exit_status)) != -1;)
        good = o != '?' && take_option(&r, o, &exit_status);
    if (good)
        exit_status = execute(&r, argv + optind, argc - optind);
    places_close(&r.places);
    return exit_status;
}

static const struct tool_option options[] = {
    { OPTION_OUTPUT, 'o', "output", TAKES_ARGUMENT, "FILE", "where to; - is stdout" },
    { OPTION_PID, 0, "pid", TAKES_ARGUMENT, "PID", "the modules of a running process" },
    { OPTION_MAPS, 0, "maps", TAKES_ARGUMENT, "MAPSFILE",
      "the modules in a copy of its /proc/PID/maps, or in its image map, which "
      "sframe_backtrace_image_map() wrote" },
    OPTIONS_END,
};

static const struct option_group groups[] = {
    { NULL, options, NULL },
    { NULL, places_options, NULL },
    OPTION_GROUPS_END,
};

const struct tool_command tool_collect = {
    .name = "collect",
    .summary = "pack the files that name functions, for use on another machine",
    .usage = "sfb collect [OPTION...] -o FILE.tar [REPORT|RECORDING|-]\n"
             "sfb collect [OPTION...] -o FILE.tar (--pid PID | --maps MAPSFILE)",
    .about = "Takes the modules of the crash reports in a file, of a recording (*.sfbr), or of a "
             "process, with their debug files, to name functions on another machine or another "
             "day:\n"
             "\n"
             "  mkdir files && tar -xf FILE.tar -C files\n"
             "  sfb symbolize --symbol-path files files/report\n"
             "  sfb symbolize --symbol-path files --maps files/maps BACKTRACE\n"
             "  sfb report --symbol-path files files/recording.sfbr\n"
             "\n"
             "The file has each module as .build-id/ab/cdef, its debug file, and what debug files "
             "share, as .build-id/ab/cdef.debug, a link to it at its path, the report, the "
             "recording or the map, and a manifest that says which is which.\n",
    .options = groups,
    .exits = "Exit status 1: something could not be collected, and stderr says what; the rest is "
             "there.\n",
    .run = run,
};
