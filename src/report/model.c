/*
 * Stacks are of the modules that were there: one CBF is two stacks if a library was replaced between two samples of
 * it. So both are found by (CBF, list of modules), and a location by (address, list of modules).
 */
#include "report/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/index.h"
#include "sfb/cbf.h"

/* Deeper ones are cut off at their outer end. */
enum { FRAMES_MAX = 1 << 16 };

struct maker {
    struct report_model *model;
    const struct report_namer *namer;
    struct report_index locations, stacks, rows;
    uint32_t process, list; /* that the namer uses */
    bool failed;            /* no memory */
};

/* --- Locations --------------------------------------------------------------------------------- */

static void add_function(void *user, const struct report_named *named)
{
    struct maker *m = user;
    struct report_model *model = m->model;
    char unnamed[32];
    uint32_t function, *chained;

    snprintf(unnamed, sizeof unnamed, "[0x%" PRIx64 "]", named->offset);
    m->failed |= !report_functions_add(&model->functions, named->name ? named->name : unnamed,
                                       named->module ? named->module : "", &function);
    if (m->failed)
        return;
    chained = REPORT_NEXT(model->chains);
    if (chained)
        *chained = function;
    m->failed |= !chained;
}

/* @return the location; 0 without memory */
static uint32_t locate(struct maker *m, uint32_t process, uint32_t list, uint64_t lookup)
{
    struct report_model *model = m->model;
    const uint32_t next = (uint32_t)model->locations.count;
    struct report_location *location;
    uint32_t index = 0;
    bool found;

    if (!report_index_find(&m->locations, lookup, (uint64_t)process << 32 | list, next, &index,
                           &found)) {
        m->failed = true;
        return 0;
    }
    if (found)
        return index;
    if (m->process != process || m->list != list)
        m->failed |= !m->namer->use(m->namer->user, model->data, process, list);
    m->process = process;
    m->list = list;
    location = REPORT_NEXT(model->locations);
    if (!location || m->failed) {
        m->failed = true;
        return 0;
    }
    location->at = (uint32_t)model->chains.count;
    m->namer->find(m->namer->user, lookup, add_function, m);
    location->count = (uint32_t)(model->chains.count - location->at);
    return next;
}

/* --- Stacks ------------------------------------------------------------------------------------ */

static void add_frame(struct maker *m, uint32_t location)
{
    uint32_t *frame = REPORT_NEXT(m->model->frames);

    if (frame)
        *frame = location;
    m->failed |= !frame;
}

/*
 * A return address is behind the call that it is of. But one before a pc is of a signal's trampoline: nothing was
 * called there, and the byte before it belongs to some other function.
 */
static void add_item(struct maker *m, const struct report_cbf *cbf, uint32_t list,
                     const struct sfb_cbf_item *item, bool before_pc)
{
    const bool is_call = item->kind == SFB_FRAME_RA && !before_pc && item->value > 0;

    if (item->kind == SFB_FRAME_OMIT)
        add_frame(m, (uint32_t)REPORT_OMITTED);
    else
        add_frame(m, locate(m, cbf->process, list, item->value - is_call));
}

static bool decode(struct maker *m, const struct report_cbf *cbf, uint32_t list)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_EXPAND,
                                                            .max_frames = FRAMES_MAX };
    struct report_model *model = m->model;
    const size_t at = model->frames.count;
    struct report_stack *stack;
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item, before;
    bool have_before = false;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, cbf->bytes, cbf->size, &options, NULL);

    while (status == SFB_OK && (status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        if (have_before)
            add_item(m, cbf, list, &before, item.kind == SFB_FRAME_PC);
        before = item;
        have_before = true;
    }
    if (have_before)
        add_item(m, cbf, list, &before, false);
    stack = m->failed ? NULL : REPORT_NEXT(model->stacks);
    if (!stack)
        return false;
    stack->truncated = status != SFB_END || sfb_cbf_decoder_truncated(&decoder);
    if (stack->truncated)
        add_frame(m, (uint32_t)REPORT_TRUNCATED);
    stack->at = at;
    stack->count = (uint32_t)(model->frames.count - at);
    return !m->failed;
}

/* @return false: no memory */
static bool stack_of(struct maker *m, const struct report_sample *sample, uint32_t *out)
{
    const struct report_data *data = m->model->data;
    const struct report_cbf *cbf;
    uint32_t list;
    bool found;

    *out = REPORT_NONE;
    if (sample->stack == REPORT_NONE)
        return true;
    cbf = &data->stacks.at[sample->stack];
    list = report_data_list(data, cbf->process, sample->time);
    if (!report_index_find(&m->stacks, sample->stack, list, (uint32_t)m->model->stacks.count, out,
                           &found))
        return false;
    return found || decode(m, cbf, list);
}

/* --- Rows -------------------------------------------------------------------------------------- */

static bool add_sample(struct maker *m, const struct report_sample *sample)
{
    struct report_model *model = m->model;
    struct report_row *row;
    uint32_t stack, i;
    bool found;

    if (!stack_of(m, sample, &stack) || !report_index_find(&m->rows, sample->thread, stack,
                                                           (uint32_t)model->rows.count, &i, &found))
        return false;
    row = found ? &model->rows.at[i] : REPORT_NEXT(model->rows);
    if (!row)
        return false;
    row->thread = sample->thread;
    row->stack = stack;
    row->samples++;
    row->weight += sample->weight;
    model->samples++;
    model->weight += sample->weight;
    model->truncated += stack != REPORT_NONE && model->stacks.at[stack].truncated;
    model->by_end[sample->end < 255 ? sample->end : 255]++;
    return true;
}

bool report_model_make(struct report_model *out, const struct report_data *data,
                       const struct report_namer *namer)
{
    struct maker m = { .model = out, .namer = namer, .process = REPORT_NONE, .list = REPORT_NONE };
    bool good = true;

    *out = (struct report_model){ .data = data };
    for (size_t i = 0; good && i < data->samples.count; i++)
        good = add_sample(&m, &data->samples.at[i]);
    for (size_t i = 0; i < data->threads.count; i++)
        out->unsampled += data->threads.at[i].unsampled_ns;
    for (size_t i = 0; i < data->processes.count; i++)
        out->unsampled += data->processes.at[i].unsampled_ns;
    report_index_free(&m.locations);
    report_index_free(&m.stacks);
    report_index_free(&m.rows);
    return good;
}

void report_model_free(struct report_model *model)
{
    report_functions_free(&model->functions);
    free(model->chains.at);
    free(model->locations.at);
    free(model->frames.at);
    free(model->stacks.at);
    free(model->rows.at);
    *model = (struct report_model){ .samples = 0 };
}
