#include "profiler/report/formats/frames.h"

#include <string.h>

const char *const report_frame_marks[REPORT_FRAME_MARKS] = {
    [REPORT_FRAME_OMITTED] = "[omitted]",   [REPORT_FRAME_TRUNCATED] = "[truncated]",
    [REPORT_FRAME_NO_STACK] = "[no stack]", [REPORT_FRAME_UNSAMPLED] = "[unsampled]",
    [REPORT_FRAME_AWAIT] = "[await]",
};

static bool add_mark(struct report_frames *out, const struct report_model *model,
                     enum report_frame_mark mark)
{
    struct report_frame *frame = REPORT_NEXT(out->all);

    if (frame)
        *frame = (struct report_frame){ .line = (uint32_t)model->lines.count + mark,
                                        .function = (uint32_t)model->functions.count + mark,
                                        .location = REPORT_NONE };
    return frame != NULL;
}

static enum report_frame_mark mark_of(const char *text)
{
    for (int i = 0; i < REPORT_FRAME_MARKS; i++)
        if (strcmp(report_frame_marks[i], text) == 0)
            return (enum report_frame_mark)i;
    return REPORT_FRAME_OMITTED;
}

static bool add_line(struct report_frames *out, const struct report_model *model,
                     const struct report_step *step)
{
    const struct report_location *l = &model->locations.at[step->location];
    struct report_frame *frame = REPORT_NEXT(out->all);

    if (!frame)
        return false;
    *frame = (struct report_frame){ .line = (uint32_t)(step->line - model->lines.at),
                                    .function = step->line->function,
                                    .location = step->location };
    frame->depth = l->at + l->count - 1 - frame->line;
    return true;
}

bool report_frames_take(struct report_frames *out, const struct report_model *model, uint32_t stack)
{
    struct report_steps steps = report_steps_whole(model, stack);
    struct report_step step;
    bool good = true;

    out->all.count = 0;
    while (good && report_steps_next(&steps, &step))
        good = step.line ? add_line(out, model, &step) : add_mark(out, model, mark_of(step.mark));
    return good;
}

bool report_frames_take_mark(struct report_frames *out, const struct report_model *model,
                             enum report_frame_mark mark)
{
    out->all.count = 0;
    return add_mark(out, model, mark);
}

const char *report_frame_name(const struct report_model *model, uint32_t function)
{
    return function < model->functions.count
               ? report_name(model, function)
               : report_frame_marks[function - (uint32_t)model->functions.count];
}

const char *report_frame_file(const struct report_model *model, uint32_t function)
{
    return function < model->functions.count
               ? report_text(model, model->functions.at[function].file)
               : "";
}
