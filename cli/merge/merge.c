/* sfb merge: several recordings as one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/options.h"
#include "cli/report/progress.h"
#include "cli/tool.h"
#include "cli/tool_reporter.h"
#include "profiler/report/model/merge.h"
#include "profiler/report/model/merge_input.h"
#include "profiler/report/text/losses.h"
#include "util/counted.h"
#include "util/output.h"

enum merge_option { OPTION_OUTPUT = OPTION_FIRST, OPTION_FORCE, OPTION_LABEL };

struct request {
    const struct tool_command *command;
    const char *output;
    bool force;
    struct labels labels;
    char **paths;
    size_t count;
    struct report_merge_start start;
    bool *usable;               /* of each path */
    bool has_waits, has_others; /* some have waits, others do not */
    enum tool_exit exit_status;
};

static void complain(struct request *r, const char *path, const char *cause)
{
    r->exit_status =
        tool_worse(r->exit_status, tool_complain(TOOL_BAD_DATA, "%s: %s", path, cause));
}

/* @return false: no memory */
static bool look_at(struct request *r, size_t i)
{
    struct sfb_recording_event event;
    struct sfb_recording_reader *reader;
    enum sfb_status status = sfb_recording_reader_open(&reader, r->paths[i], NULL);
    bool good = true;

    if (status != SFB_OK) {
        complain(r, r->paths[i],
                 status == SFB_NO_RESOURCE   ? strerror(errno ? errno : ENOMEM)
                 : status == SFB_BAD_VERSION ? "a recording of a later version"
                                             : "no recording");
        return true;
    }
    status = sfb_recording_reader_next(reader, &event);
    if (status == SFB_OK && event.kind == SFB_EVENT_START) {
        good = report_merge_start_add(&r->start, &event.of.start);
        r->usable[i] = good;
    } else {
        complain(r, r->paths[i], "the beginning of the recording is missing");
    }
    sfb_recording_reader_close(reader);
    return good;
}

/* --- The file ---------------------------------------------------------------------------------- */

static void note_kinds(struct request *r, const char *path, const struct report_data *data)
{
    const struct sfb_recording_health *h = &data->health;
    const struct counted records = counted(h->unknown_records, "records");
    const struct counted blocks = counted(h->unknown_blocks, "blocks");
    char cause[sizeof records + sizeof blocks + 64];

    r->has_waits |= data->wait_count > 0;
    r->has_others |= data->wait_count == 0;
    if (h->unknown_records == 0 && h->unknown_blocks == 0)
        return;
    snprintf(cause, sizeof cause, "of a later version of sfb, left out: %s%s%s",
             h->unknown_records > 0 ? records.text : "",
             h->unknown_records > 0 && h->unknown_blocks > 0 ? ", " : "",
             h->unknown_blocks > 0 ? blocks.text : "");
    complain(r, path, cause);
}

static enum sfb_status add(struct request *r, struct report_merge *merge, const char *path)
{
    struct report_data data;
    struct sfb_error error;
    enum sfb_status status = report_data_read(&data, path, &error);

    if (status != SFB_OK)
        complain(r, path,
                 status == SFB_NO_RESOURCE ? strerror(errno ? errno : ENOMEM) : "no recording");
    else if (report_data_is_heap(&data))
        complain(r, path, "it is of heaps, and what is merged is CPU time");
    else if ((status = report_merge_add(merge, &data)) == SFB_OK)
        note_kinds(r, path, &data);
    if (status == SFB_OK && report_is_damaged(&data.health))
        complain(r, path, "damaged: parts of it are missing; sfb report --check says more");
    report_data_free(&data);
    return status == SFB_NO_RESOURCE ? status : SFB_OK;
}

static bool fill(void *user, int fd)
{
    struct request *r = user;
    struct report_merge *merge;
    enum sfb_status status = report_merge_open(&merge, fd, &r->start), last;

    for (size_t i = 0; status == SFB_OK && i < r->count; i++) {
        report_progress_note("merging", r->paths[i], i + 1, r->count);
        if (r->usable[i])
            status = add(r, merge, r->paths[i]);
    }
    last = report_merge_close(merge);
    if (last != SFB_OK || status != SFB_OK)
        errno = errno ? errno : ENOMEM;
    return last == SFB_OK && status == SFB_OK;
}

static enum tool_exit execute(struct request *r)
{
    struct stat file;
    const mode_t mask = umask(0);
    bool good = true;

    umask(mask);
    if (!r->force && strcmp(r->output, "-") != 0 && lstat(r->output, &file) == 0 &&
        S_ISREG(file.st_mode))
        return tool_complain(TOOL_USAGE, "merge: %s exists; -f overwrites it", r->output);
    r->usable = calloc(r->count, sizeof *r->usable);
    good = r->usable != NULL;
    for (size_t i = 0; good && i < r->count; i++)
        good = look_at(r, i);
    good = good && labels_add(&r->start.labels, r->labels.text, r->labels.size);
    if (!good)
        return tool_complain(TOOL_USAGE, "merge: %s", strerror(ENOMEM));
    if (r->start.count == 0)
        return r->exit_status;
    if (r->start.labels_differ)
        tool_complain(TOOL_DONE,
                      "merge: labels that are not the same in all recordings are left out");
    report_progress_begin();
    good = output_write_stream(r->output, 0666 & ~mask, fill, r, &tool_complaints);
    report_progress_end();
    if (good && r->has_waits && r->has_others)
        tool_complain(TOOL_DONE, "merge: not all recordings have waits: those without add CPU time "
                                 "alone to wall time");
    return good ? r->exit_status : TOOL_USAGE;
}

/* --- The command ------------------------------------------------------------------------------- */

/* @return false after a complaint */
static bool take_option(struct request *r, int option, enum tool_exit *exit_status)
{
    const char *fault;

    switch (option) {
    case OPTION_OUTPUT: r->output = optarg; return true;
    case OPTION_FORCE: r->force = true; return true;
    default:
        fault = labels_parse(&r->labels, optarg);
        if (fault)
            *exit_status = tool_misused(r->command, "--label: '%s' %s", optarg, fault);
        return !fault;
    }
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    struct request r = { .command = command };
    enum tool_exit exit_status = TOOL_DONE;
    bool good = true;

    for (int o; good && (o = options_next(command, argc, argv, &exit_status)) != -1;)
        good = o != '?' && take_option(&r, o, &exit_status);
    r.paths = argv + optind;
    r.count = (size_t)(argc - optind);
    if (good && (r.count == 0 || !r.output))
        exit_status =
            tool_misused(command, r.output ? "no recording is given" : "no -o FILE is given");
    else if (good)
        exit_status = execute(&r);
    labels_free(&r.labels);
    report_merge_start_free(&r.start);
    free(r.usable);
    return exit_status;
}

static const struct tool_option options[] = {
    { OPTION_OUTPUT, 'o', "output", TAKES_ARGUMENT, "FILE", "where to; - is stdout" },
    { OPTION_FORCE, 'f', "force", TAKES_NOTHING, NULL, "overwrite FILE" },
    { OPTION_LABEL, 0, "label", TAKES_ARGUMENT, "K=V,...",
      "labels of the result, beside the common ones" },
    OPTIONS_END,
};

static const struct option_group groups[] = { { NULL, options, NULL }, OPTION_GROUPS_END };

const struct tool_command tool_merge = {
    .name = "merge",
    .summary = "make one recording of many",
    .usage = "sfb merge [OPTION...] -o FILE RECORDING...",
    .about =
        "Merges recordings of CPU time and wall time: processes of one program become one, and "
        "threads of one name. Samples and waits keep their time. One recording is in memory at a "
        "time, with the distinct "
        "stacks of all. Labels stay that all of them have.\n",
    .options = groups,
    .exits =
        "Exit status 1: a file is no such recording, damaged, or of a later version in parts; what "
        "is known is merged. 2: wrong arguments, or FILE cannot be written.\n",
    .run = run,
};
