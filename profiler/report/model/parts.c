#include "profiler/report/model/parts.h"

#include <string.h>

struct report_parts report_parts_of(const struct report_model *model)
{
    return (struct report_parts){ .model = model };
}

static bool has_weight(const struct report_model *model, const struct report_part *part)
{
    for (size_t i = 0; i < model->type_count; i++)
        if (part->values[i] > 0)
            return true;
    return false;
}

static void take_row(const struct report_model *model, const struct report_row *row,
                     struct report_part *out)
{
    out->member = &model->members.at[row->member];
    out->process = out->member->process;
    out->source = out->member->source;
    out->stack = row->stack;
    memcpy(out->values, row->values, model->type_count * sizeof *out->values);
    if (row->estimates)
        memcpy(out->variances, row->estimates->variances, sizeof out->variances);
}

static void take_rest(const struct report_model *model, uint64_t unsampled, struct report_part *out)
{
    out->stack = REPORT_NONE;
    out->mark = "[unsampled]";
    out->values[model->main] = unsampled;
}

/* @return false: there are no more */
static bool take(struct report_parts *p, struct report_part *out)
{
    const struct report_model *model = p->model;

    *out = (struct report_part){ .stack = REPORT_NONE };
    if (p->row < model->rows.count) {
        take_row(model, &model->rows.at[p->row++], out);
        return true;
    }
    if (p->member < model->members.count) {
        out->member = &model->members.at[p->member++];
        out->process = out->member->process;
        out->source = out->member->source;
        take_rest(model, report_member_unsampled(model, out->member), out);
        return true;
    }
    while (p->source < model->source_count &&
           p->process == model->sources[p->source].data->processes.count) {
        p->source++;
        p->process = 0;
    }
    if (p->source == model->source_count)
        return false;
    out->source = (uint32_t)p->source;
    out->process = &model->sources[p->source].data->processes.at[p->process++];
    take_rest(model, report_process_unsampled(model, out->process), out);
    return true;
}

bool report_parts_next(struct report_parts *p, struct report_part *out)
{
    while (take(p, out))
        if (has_weight(p->model, out))
            return true;
    return false;
}

const char *report_part_thread(const struct report_part *part)
{
    return part->member ? part->member->thread->name : "[no thread]";
}

bool report_model_compares(const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++)
        if (model->sources[i].group != 0)
            return true;
    return false;
}

/* By what its samples came, and without any by what the recording began with. */
static const char *find_way(const struct report_model *model, const struct report_part *part)
{
    const uint32_t engine = model->sources[part->source].data->start.engine;
    uint64_t inside = 0, outside = 0;

    if (model->heap || engine == SFB_ENGINE_NONE)
        return "";
    if (engine == SFB_ENGINE_LOOKS)
        return "looks";
    for (size_t i = 0; i < model->members.count; i++)
        if (model->members.at[i].process == part->process) {
            inside += model->members.at[i].ways[0];
            outside += model->members.at[i].ways[1];
        }
    if (inside > 0 && outside > 0)
        return "agent+events";
    return outside > 0 || (inside == 0 && engine >= SFB_ENGINE_OUTSIDE) ? "events" : "agent";
}

const char *report_part_way(struct report_way *last, const struct report_model *model,
                            const struct report_part *part)
{
    if (!last->text || last->source != part->source || last->process != part->process)
        *last = (struct report_way){ part->source, part->process, find_way(model, part) };
    return last->text;
}
