/* sfb report: what recordings show. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/arguments.h"
#include "cli/report/groups.h"
#include "cli/report/heap_views.h"
#include "cli/report/hits.h"
#include "cli/report/inputs.h"
#include "cli/report/lws_report.h"
#include "cli/report/newest.h"
#include "cli/report/open_page.h"
#include "cli/report/outputs.h"
#include "cli/report/progress.h"
#include "cli/report/show.h"
#include "cli/report/texts.h"
#include "cli/tool.h"
#include "profiler/report/model/fold.h"
#include "profiler/report/model/make.h"
#include "profiler/report/text/losses.h"
#include "profiler/report/text/summary.h"

static enum tool_exit fold_and_show(const struct report_request *r, struct report_model *model)
{
    const enum tool_exit exit_status = report_heap_fold(r, model);

    return exit_status == TOOL_DONE ? report_show(r, model) : exit_status;
}

/* Recordings are read as the model takes them. */
struct feeding {
    const struct report_request *request;
    struct report_inputs *inputs;
    enum tool_exit exit_status;
};

/* A name may have been given twice: the first mark is taken, which may not be the one that is meant. */
static void tell_of_others(const struct report_data *data, const char *name, const char *path)
{
    size_t count = 0;

    for (size_t i = 0; name && i < data->marks.count; i++)
        count += strcmp(data->marks.at[i].name, name) == 0;
    if (count > 1)
        tool_complain(TOOL_DONE, "%s: --time: %zu marks are called '%s': the first one is taken",
                      path, count, name);
}

/* @return false after a complaint */
static bool has_marks(const struct report_request *r, const struct report_data *data,
                      const char *path)
{
    const char *names[] = { r->choice.from_mark, r->choice.to_mark };
    uint64_t time[] = { r->choice.from, r->choice.to };

    for (unsigned i = 0; i < 2; i++)
        if (names[i] && !report_data_mark(data, names[i], &time[i])) {
            tool_complain(TOOL_USAGE, "%s: --time: it has no mark '%s'", path, names[i]);
            return false;
        }
    tell_of_others(data, names[0], path);
    if (!names[0] || !names[1] || strcmp(names[0], names[1]) != 0)
        tell_of_others(data, names[1], path);
    if ((names[0] || names[1]) && time[1] != 0 && time[1] <= time[0]) {
        tool_complain(TOOL_USAGE, "%s: --time: the second mark is not behind the first", path);
        return false;
    }
    return true;
}

static bool open_next(void *user, size_t number)
{
    struct feeding *f = user;

    f->exit_status = report_inputs_read(f->inputs, f->request);
    if (f->exit_status == TOOL_DONE &&
        (!report_heap_fits(f->request, f->inputs) ||
         !has_marks(f->request, &f->inputs->data[number], f->request->paths[number])))
        f->exit_status = TOOL_USAGE;
    return f->exit_status == TOOL_DONE;
}

static void release(void *user, size_t number)
{
    struct feeding *f = user;

    report_inputs_release(f->inputs, number);
}

/* One model serves the view and all outputs. */
static enum tool_exit write_report(struct report_request *r, struct report_inputs *inputs)
{
    struct feeding feeding = { r, inputs, TOOL_DONE };
    const struct report_texts texts = report_texts_of(r);
    const struct report_feed feed = { open_next, release, &feeding };
    struct report_model model;
    enum tool_exit exit_status;

    if (!report_model_make_from(&model, inputs->sources, r->path_count, &r->choice, &feed)) {
        exit_status = feeding.exit_status;
        if (exit_status == TOOL_DONE)
            exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    } else if (!report_hits_names(r, inputs) || !report_hits_model(r, inputs, &model)) {
        exit_status = TOOL_USAGE;
    } else {
        model.names_advised = true;
        model.texts = &texts;
        exit_status = report_outputs_write(r, &model);
        report_progress_end();
        /* Files of other tools have whole stacks. */
        exit_status = tool_worse(exit_status, fold_and_show(r, &model));
        if (r->open && exit_status == TOOL_DONE)
            exit_status = report_open_page(r);
    }
    report_model_free(&model);
    return exit_status;
}

/* What an overview leaves out where it is little, too. @return false: no memory */
static bool write_missing(const struct report_source *source)
{
    struct report_source alone = *source;
    struct report_model model;
    bool good;

    alone.group = 0;
    good = report_model_make(&model, &alone, 1, NULL) &&
           report_missing_write(stdout, &model, REPORT_DETAIL_ALL);
    report_model_free(&model);
    return good;
}

static enum tool_exit check(const struct report_request *r, struct report_inputs *inputs)
{
    enum tool_exit exit_status = TOOL_DONE;

    for (size_t i = 0; i < r->path_count; i++) {
        const enum tool_exit status = report_inputs_read(inputs, r);

        if (status != TOOL_DONE)
            return status;
    }
    if (!report_heap_fits(r, inputs))
        return TOOL_USAGE;
    for (size_t i = 0; i < inputs->count; i++) {
        if (!report_health_write(stdout, r->paths[i], &inputs->data[i]))
            exit_status = TOOL_BAD_DATA;
        if (!write_missing(&inputs->sources[i]))
            return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    }
    return exit_status;
}

static enum tool_exit report(struct report_request *r)
{
    struct report_inputs inputs;
    enum tool_exit exit_status;

    report_progress_begin();
    exit_status = report_inputs_open(&inputs, r);
    if (exit_status == TOOL_DONE && r->view == REPORT_VIEW_CHECK)
        exit_status = check(r, &inputs);
    else if (exit_status == TOOL_DONE) {
        exit_status = write_report(r, &inputs);
        /* Damage is said on stderr, too: what could be read is shown. */
        if (inputs.count == r->path_count)
            exit_status = tool_worse(exit_status, report_inputs_judge(&inputs, r));
    }
    report_progress_end();
    report_inputs_close(&inputs);
    return exit_status;
}

static enum tool_exit execute(struct report_request *r)
{
    char *newest = r->path_count == 0 && !r->diff ? report_newest() : NULL;
    enum tool_exit exit_status;

    if (r->diff && r->path_count > 2) {
        exit_status = report_groups_choose(r);
        if (exit_status != TOOL_DONE)
            return exit_status;
    } else if (r->diff && r->path_count != 2)
        return tool_misused(r->command, "--diff takes two recordings: OLD NEW");
    if (r->path_count == 0 && !newest)
        return tool_misused(r->command,
                            "no recording given, and no sfb-*.sfbr of yours is in this folder");
    if (newest) {
        r->paths = &newest;
        r->path_count = 1;
        tool_complain(TOOL_DONE, "%s", newest);
    }
    exit_status = report(r);
    r->path_count = 0;
    r->paths = NULL;
    free(newest);
    return exit_status;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct report_request r;

    if (lws_report_is_asked(argc, argv))
        return lws_report_run(command, argc, argv);
    if (report_arguments_read(&r, command, argc, argv, &exit_status)) {
        if (r.print_fold)
            fputs(report_fold_usual, stdout);
        else
            exit_status = execute(&r);
    }
    report_request_close(&r);
    return exit_status;
}

const struct tool_command tool_report = {
    .name = "report",
    .summary = "show recordings: functions, call trees, source lines, leaks, a page",
    .usage = "sfb report [OPTION...] [FILE...]\n"
             "sfb report --diff [OPTION...] OLD NEW | LABELS LABELS FILE...\n"
             "sfb report --lws PROGRAM [OPTION...] [LOG]",
    .about = "Shows recordings that `sfb record` made, also one that is still being written. "
             "Several are merged. Without FILE, the sfb-*.sfbr of the current folder that was "
             "written last.\n",
    .options = report_options,
    .habits = &report_habits,
    .more = "Self is CPU time in a function itself, total is time in it and in what it calls. Both "
            "are shares of all CPU time that the recorded threads used, what was never sampled "
            "included. Of heaps they are of all that is shown, and \u00b1 is one standard error of "
            "what was sampled.\n",
    .exits = "Exit status 1: a file is no recording, or parts of it are missing; --check: one is "
             "not whole. What can be read is shown.\n",
    .run = run,
};
