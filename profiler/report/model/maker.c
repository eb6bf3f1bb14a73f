#include "profiler/report/model/maker.h"

#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"

/* Deeper ones are cut off at their outer end. */
enum { FRAMES_MAX = 1 << 16 };

/* Words of one block of rows' values. */
enum { FIGURES = 1 << 13 };

/* --- Stacks ------------------------------------------------------------------------------------ */

static void add_frame(struct report_maker *m, uint32_t location)
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
static void add_item(struct report_maker *m, const struct report_cbf *cbf, uint32_t list,
                     const struct sfb_cbf_item *item, bool before_pc)
{
    const bool is_call = item->kind == SFB_FRAME_RA && !before_pc && item->value > 0;
    uint32_t location = (uint32_t)REPORT_OMITTED;

    if (item->kind != SFB_FRAME_OMIT)
        m->failed |= !report_locate(&m->locator, m->source, cbf->process, list,
                                    item->value - is_call, &location);
    if (!m->failed)
        add_frame(m, location);
}

/* @return whether the stack is cut off */
static bool add_items(struct report_maker *m, const struct report_cbf *cbf, uint32_t list)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_EXPAND,
                                                            .max_frames = FRAMES_MAX };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item, before;
    bool have_before = false, truncated;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, cbf->bytes, cbf->size, &options, NULL);

    while (status == SFB_OK && (status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        if (have_before)
            add_item(m, cbf, list, &before, item.kind == SFB_FRAME_PC);
        before = item;
        have_before = true;
    }
    if (have_before)
        add_item(m, cbf, list, &before, false);
    truncated = status != SFB_END || sfb_cbf_decoder_truncated(&decoder);
    if (truncated)
        add_frame(m, (uint32_t)REPORT_TRUNCATED);
    return truncated;
}

static uint64_t hash(const uint32_t *frames, size_t count, uint64_t h)
{
    for (size_t i = 0; i < count; i++) {
        h = (h ^ frames[i]) * 0x9e3779b97f4a7c15U;
        h ^= h >> 29;
    }
    return h;
}

/* @return false: no memory */
static bool decode(struct report_maker *m, const struct report_cbf *cbf, uint32_t list,
                   uint32_t *out)
{
    struct report_model *model = m->model;
    const size_t at = model->frames.count;
    static const uint32_t none = REPORT_NONE; /* the array may not be there yet */
    const bool truncated = add_items(m, cbf, list);
    struct report_stack *stack;
    bool found;

    if (m->failed)
        return false;
    const size_t count = model->frames.count - at;
    const uint32_t *frames = count > 0 ? model->frames.at + at : &none;

    if (!report_index_find(&m->same, hash(frames, count, 1), hash(frames, count, ~count),
                           (uint32_t)model->stacks.count, out, &found))
        return false;
    if (found) {
        model->frames.count = at;
        return true;
    }
    stack = REPORT_NEXT(model->stacks);
    if (!stack)
        return false;
    *stack = (struct report_stack){
        .at = at, .count = (uint32_t)count, .truncated = truncated, .shown_as = *out
    };
    return true;
}

/* @return false: no memory */
static bool find_stack(struct report_maker *m, uint32_t number, uint32_t list, uint32_t *out)
{
    const struct report_cbf *cbf = &m->model->sources[m->source].data->stacks.at[number];
    uint32_t place, *slot;
    bool found;

    if (!report_index_find(&m->stacks, number, list, (uint32_t)m->stack_count, &place, &found))
        return false;
    if (found) {
        *out = m->stack_of[place];
        return true;
    }
    slot = report_array_next((void **)&m->stack_of, &m->stack_count, &m->stack_room, sizeof *slot);
    if (!slot || !decode(m, cbf, list, out))
        return false;
    *slot = *out;
    return true;
}

bool report_maker_stack(struct report_maker *m, uint32_t number, uint64_t time, uint32_t *out)
{
    const struct report_data *data = m->model->sources[m->source].data;
    struct report_maker_last *last;
    uint32_t list;

    *out = REPORT_NONE;
    if (number == REPORT_NONE)
        return true;
    last = &m->last[number];
    list = report_data_list(data, data->stacks.at[number].process, time);
    if (!last->known || last->list != list) {
        if (!find_stack(m, number, list, &last->stack))
            return false;
        last->list = list;
        last->known = true;
        last->row = REPORT_NONE;
    }
    *out = last->stack;
    return true;
}

/* --- What is wanted ---------------------------------------------------------------------------- */

/* @return false: no memory */
static bool name_wanted(struct report_maker *m, uint32_t string, bool *out)
{
    const size_t count = m->model->strings.all.count;

    if (count > m->wanted_room) {
        char *grown = realloc(m->wanted, 2 * count);

        if (!grown)
            return false;
        memset(grown + m->wanted_room, 0, 2 * count - m->wanted_room);
        m->wanted = grown;
        m->wanted_room = 2 * count;
    }
    if (m->wanted[string] == 0)
        m->wanted[string] =
            m->choice->function(m->choice->user, report_text(m->model, string)) ? 2 : 1;
    *out = m->wanted[string] == 2;
    return true;
}

bool report_maker_wants(struct report_maker *m, uint32_t stack, bool *out)
{
    struct report_steps steps = report_steps_of(m->model, stack);
    struct report_step step;

    *out = !m->choice->function;
    while (!*out && report_steps_next(&steps, &step))
        if (step.line && !name_wanted(m, m->model->functions.at[step.line->function].name, out))
            return false;
    return true;
}

/* --- Rows -------------------------------------------------------------------------------------- */

/* @return false: no memory */
static bool add_figures(struct report_model *model, struct report_row *row)
{
    const size_t estimates = model->heap ? sizeof *row->estimates / sizeof(uint64_t) : 0;
    const size_t words = model->type_count + estimates;
    struct report_figures *f = model->figures;

    if (!f || f->room - f->used < words) {
        f = calloc(1, sizeof *f + FIGURES * sizeof *f->words);
        if (!f)
            return false;
        f->room = FIGURES;
        f->before = model->figures;
        model->figures = f;
    }
    row->values = &f->words[f->used];
    if (estimates > 0)
        row->estimates = (void *)&f->words[f->used + model->type_count];
    f->used += words;
    return true;
}

struct report_row *report_maker_row(struct report_maker *m, uint32_t member, uint32_t stack)
{
    struct report_model *model = m->model;
    struct report_row *row;
    uint32_t i;
    bool found;

    if (!report_index_find(&m->rows, member, stack, (uint32_t)model->rows.count, &i, &found))
        return NULL;
    if (found)
        return &model->rows.at[i];
    row = REPORT_NEXT(model->rows);
    if (row && add_figures(model, row)) {
        row->member = member;
        row->stack = stack;
        row->group = model->sources[m->source].group;
        return row;
    }
    return NULL;
}

void report_maker_end(struct report_maker *m)
{
    report_locator_end(&m->locator);
    report_index_free(&m->stacks);
    report_index_free(&m->same);
    report_index_free(&m->rows);
    free(m->stack_of);
    free(m->last);
    free(m->wanted);
}
