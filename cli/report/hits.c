#include "cli/report/hits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "util/base_name.h"
#include "util/counted.h"

/* Names in a list; the rest is counted. */
enum { LISTED = 8 };

/* --- Lists --------------------------------------------------------------------------------------- */

/* A list of names: "make (12), cc1 (13), and 3 more processes". */
struct list {
    char text[1024];
    size_t size, count;
};

static void add(struct list *l, const char *name, uint32_t id)
{
    char one[96];

    snprintf(one, sizeof one, "%s%.64s (%" PRIu32 ")", l->count > 0 ? ", " : "",
             sfb_base_name(name), id);
    if (l->count++ < LISTED)
        l->size += (size_t)snprintf(l->text + l->size, sizeof l->text - l->size, "%s", one);
}

static const char *end_list(struct list *l, const char *plural)
{
    if (l->count > LISTED)
        snprintf(l->text + l->size, sizeof l->text - l->size, ", and %s",
                 counted(l->count - LISTED, plural).text);
    return l->text;
}

/* --- Names ---------------------------------------------------------------------------------------- */

/* An exec gives a pid another program, and an entry of its own. */
static bool is_listed(const struct report_data *data, size_t number)
{
    const struct report_process *p = &data->processes.at[number];

    for (size_t i = 0; i < number; i++)
        if (data->processes.at[i].pid == p->pid &&
            strcmp(data->processes.at[i].program, p->program) == 0)
            return true;
    return false;
}

static bool complain_of_process(const char *process, const struct report_inputs *inputs)
{
    struct list l = { .count = 0 };

    for (size_t i = 0; i < inputs->count; i++)
        for (size_t k = 0; k < inputs->data[i].processes.count; k++)
            if (!is_listed(&inputs->data[i], k))
                add(&l, inputs->data[i].processes.at[k].program,
                    inputs->data[i].processes.at[k].pid);
    tool_complain(TOOL_USAGE, "no process is called '%s': there %s %s", process,
                  l.count == 1 ? "is" : "are", l.count > 0 ? end_list(&l, "more") : "none");
    return false;
}

static bool complain_of_thread(const char *thread, const struct report_inputs *inputs)
{
    struct list l = { .count = 0 };

    for (size_t i = 0; i < inputs->count; i++)
        for (size_t k = 0; k < inputs->data[i].threads.count; k++)
            add(&l, inputs->data[i].threads.at[k].name, inputs->data[i].threads.at[k].tid);
    tool_complain(TOOL_USAGE,
                  "no thread is called '%s': there %s %s; sfb report --threads lists "
                  "them",
                  thread, l.count == 1 ? "is" : "are", l.count > 0 ? end_list(&l, "more") : "none");
    return false;
}

bool report_hits_names(const struct report_request *r, const struct report_inputs *inputs)
{
    const struct report_choice *c = &r->choice;
    size_t processes = 0, threads = 0;

    for (size_t i = 0; i < inputs->count; i++) {
        const struct report_data *data = &inputs->data[i];

        for (size_t k = 0; k < data->processes.count; k++)
            processes += report_choice_has_process(c, &data->processes.at[k]);
        for (size_t k = 0; k < data->threads.count; k++)
            threads += report_choice_has_thread(c, &data->threads.at[k]);
    }
    if (c->process && processes == 0)
        return complain_of_process(c->process, inputs);
    if (c->thread && threads == 0)
        return complain_of_thread(c->thread, inputs);
    return true;
}

/* --- What is in the part that is chosen ------------------------------------------------------------ */

struct span {
    double first, last; /* seconds from the beginning of a recording */
    uint64_t samples;
};

static double since_start(const struct report_data *data, uint64_t time)
{
    return time > data->start.monotonic ? (double)(time - data->start.monotonic) / 1e9 : 0.0;
}

static struct span span_of(const struct report_inputs *inputs)
{
    struct span s = { 0, 0, 0 };

    for (size_t i = 0; i < inputs->count; i++) {
        const struct report_data *data = &inputs->data[i];

        const double from = since_start(data, data->first_sample),
                     to = since_start(data, data->last_sample);

        if (data->sample_count + data->wait_count == 0)
            continue;
        s.first = s.samples == 0 || from < s.first ? from : s.first;
        s.last = to > s.last ? to : s.last;
        s.samples += data->sample_count + data->wait_count;
    }
    return s;
}

/* What can be found is known of samples; a heap in which nothing lives at a time is an answer. */
static bool has_hit(const struct report_request *r, const struct report_model *model)
{
    const struct report_choice *c = &r->choice;

    if (model->rows.count > 0 || model->unsampled > 0 || model->idle.count > 0)
        return true;
    return model->heap && (report_choice_is_timed(c) || !(c->function || c->process || c->thread));
}

/* Whether there is something to show, or nothing that could have been found. */
static bool is_answered(const struct report_request *r, const struct report_model *model,
                        uint64_t samples)
{
    return has_hit(r, model) || (!model->heap && samples == 0);
}

bool report_hits_model(const struct report_request *r, const struct report_inputs *inputs,
                       const struct report_model *model)
{
    const struct report_choice *c = &r->choice;
    const bool timed = report_choice_is_timed(c);
    const struct span s = span_of(inputs);

    if (is_answered(r, model, s.samples))
        return true;
    if (c->gil != SFB_GIL_UNKNOWN) {
        tool_complain(TOOL_USAGE, "--gil: no sample that is chosen is of that state%s",
                      c->gil == SFB_GIL_WAITED ? ": waits take sfb record --wall" : "");
        return false;
    }
    if (c->function && !timed && !c->process && !c->thread)
        tool_complain(TOOL_USAGE,
                      "--filter: no stack has a function that '%s' finds: sfb report "
                      "--top=0 lists all functions",
                      r->filter_text);
    else if (timed && !c->function && !c->process && !c->thread)
        tool_complain(TOOL_USAGE, "--time: there is no sample: there %s from %.3f s to %.3f s",
                      s.samples == 1 ? "is one" : "are some", s.first, s.last);
    else if (timed || c->function)
        tool_complain(TOOL_USAGE, "nothing is in all of the parts that are chosen: leave out "
                                  "--filter, --time, --process or --thread");
    else if (c->process && c->thread)
        tool_complain(TOOL_USAGE,
                      "no thread '%s' of a process '%s' was recorded: sfb report "
                      "--threads lists them",
                      c->thread, c->process);
    else if (c->process || c->thread)
        tool_complain(TOOL_USAGE, "%s '%s' has %s: sfb report --by %s lists all that have some",
                      c->process ? "process" : "thread", c->process ? c->process : c->thread,
                      model->heap ? "no allocation" : "no sample",
                      c->process ? "process" : "thread");
    else
        return true;
    return false;
}

/* --- Files of one process --------------------------------------------------------------------------- */

struct heap_process {
    const struct report_process *process;
    uint64_t bytes; /* that it allocated */
};

static int compare(const void *a, const void *b)
{
    const struct heap_process *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->process->pid > y->process->pid) - (x->process->pid < y->process->pid);
}

/* @return how many have blocks, the largest first; 0: no memory, too */
static size_t find_processes(struct heap_process **out, const struct report_model *model)
{
    size_t count = 0;

    *out = calloc(model->sites.count + 1, sizeof **out);
    for (size_t i = 0; *out && i < model->rows.count; i++) {
        const struct report_row *row = &model->rows.at[i];
        const struct report_process *p = model->members.at[row->member].process;
        size_t k = 0;

        while (k < count && (*out)[k].process != p)
            k++;
        if (k == count && count == model->sites.count)
            continue;
        (*out)[k].process = p;
        (*out)[k].bytes = report_saturated((*out)[k].bytes, row->values[REPORT_ALLOC_SPACE]);
        count += k == count;
    }
    if (count > 1)
        qsort(*out, count, sizeof **out, compare);
    return count;
}

/* An exec keeps the number of a process, and other processes may run the same program. */
static bool is_alone(const struct heap_process *all, size_t count, size_t number)
{
    for (size_t i = 0; i < count; i++)
        if (i != number && all[i].process->pid == all[number].process->pid)
            return false;
    return true;
}

bool report_hits_one_process(const char *option, const struct report_model *model)
{
    struct heap_process *all = NULL;
    const size_t count = model->heap ? find_processes(&all, model) : 0;
    const struct report_process *first = NULL;
    struct list l = { .count = 0 };

    for (size_t i = 0; i < count; i++) {
        if (!is_alone(all, count, i))
            continue;
        first = first ? first : all[i].process;
        add(&l, all[i].process->program, all[i].process->pid);
    }
    if (count > 1 && first)
        tool_complain(TOOL_USAGE,
                      "--%s: a file has one process, and there are %zu: add --process %" PRIu32
                      ", or one of %s",
                      option, count, first->pid, end_list(&l, "more"));
    else if (count > 1)
        tool_complain(TOOL_USAGE,
                      "--%s: a file has one process, and %zu are in the part that is chosen, with "
                      "one number: sfb record PROGRAM without a shell around it",
                      option, count);
    free(all);
    return count <= 1;
}
