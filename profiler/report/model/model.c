#include "profiler/report/model/model.h"

#include <stdlib.h>
#include <string.h>

static void free_causes(struct report_causes *causes)
{
    free(causes->all.at);
    free(causes->parts.at);
    free(causes->shares.at);
}

void report_model_free(struct report_model *model)
{
    report_strings_free(&model->strings);
    free(model->modules.at);
    free(model->functions.at);
    free(model->lines.at);
    free(model->locations.at);
    free(model->frames.at);
    free(model->stacks.at);
    free(model->members.at);
    free(model->rows.at);
    for (struct report_figures *f = model->figures, *before; f; f = before) {
        before = f->before;
        free(f);
    }
    free(model->points.at);
    free(model->idle.at);
    free_causes(&model->locks);
    free_causes(&model->wakers);
    free(model->sites.at);
    *model = (struct report_model){ .sources = NULL };
}

/* --- Reading it -------------------------------------------------------------------------------- */

uint64_t report_member_unsampled(const struct report_model *model, const struct report_member *m)
{
    return m->wanted && !model->heap && report_choice_has_unsampled(&model->choice)
               ? m->thread->unsampled_ns
               : 0;
}

uint64_t report_process_unsampled(const struct report_model *model,
                                  const struct report_process *process)
{
    return !model->heap && report_choice_has_unsampled(&model->choice) && !model->choice.thread &&
                   report_choice_has_process(&model->choice, process)
               ? process->unsampled_ns
               : 0;
}

static bool is_wait(const struct report_model *model, const struct report_location *l)
{
    return l->kind == REPORT_MADE &&
           strcmp(report_text(model, model->modules.at[l->module].path), REPORT_WAITING) == 0;
}

bool report_location_is_code(const struct report_model *model, const struct report_location *l)
{
    return l->kind != REPORT_CODE && !is_wait(model, l);
}

uint64_t report_location_address(const struct report_model *model, const struct report_location *l)
{
    if (!report_location_is_code(model, l))
        return 0;
    return (l->kind == REPORT_NATIVE ? model->modules.at[l->module].start : 0) + l->offset;
}

const char *report_waits_in(const struct report_model *model, uint32_t stack)
{
    const struct report_location *leaf;
    uint32_t frame;

    if (report_has_no_stack(model, stack))
        return NULL;
    frame = model->frames.at[model->stacks.at[stack].at];
    if (frame >= model->locations.count)
        return NULL;
    leaf = &model->locations.at[frame];
    return is_wait(model, leaf) ? report_name(model, model->lines.at[leaf->at].function) : NULL;
}

struct report_steps report_steps_whole(const struct report_model *model, uint32_t stack)
{
    return (struct report_steps){
        .model = model, .stack = report_has_no_stack(model, stack) ? NULL : &model->stacks.at[stack]
    };
}

struct report_steps report_steps_of(const struct report_model *model, uint32_t stack)
{
    struct report_steps steps = report_steps_whole(model, stack);

    if (steps.stack) {
        steps.frame = steps.stack->first_frame;
        steps.line = steps.stack->first_line;
    }
    return steps;
}

uint32_t report_folded(const struct report_model *model, uint32_t stack)
{
    const struct report_stack *s =
        report_has_no_stack(model, stack) ? NULL : &model->stacks.at[stack];
    uint32_t steps = s ? s->first_line : 0;

    for (uint32_t i = 0; s && i < s->first_frame; i++)
        steps += model->locations.at[model->frames.at[s->at + i]].count;
    return steps;
}

bool report_steps_next(struct report_steps *s, struct report_step *out)
{
    const struct report_model *model = s->model;
    const struct report_location *location;
    uint32_t frame;

    *out = (struct report_step){ .location = REPORT_NONE };
    if (!s->stack) {
        out->mark = "[no stack]";
        return s->frame++ == 0;
    }
    if (s->frame == s->stack->count)
        return false;
    frame = model->frames.at[s->stack->at + s->frame];
    if (frame >= model->locations.count) {
        out->mark = frame == (uint32_t)REPORT_OMITTED ? "[omitted]"
                    : frame == (uint32_t)REPORT_AWAIT ? "[await]"
                                                      : "[truncated]";
        s->frame++;
        return true;
    }
    location = &model->locations.at[frame];
    out->location = frame;
    out->line = &model->lines.at[location->at + s->line];
    if (++s->line == location->count) {
        s->line = 0;
        s->frame++;
    }
    return true;
}
