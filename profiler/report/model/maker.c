#include "profiler/report/model/maker.h"

#include <stdlib.h>
#include <string.h>

/* Words of one block of rows' values. */
enum { FIGURES = 1 << 13 };

/* --- Stacks ------------------------------------------------------------------------------------ */

/* Two that have nothing in common: both at once keep a processor busy. */
static void hash(const uint32_t *frames, size_t count, uint64_t out[2])
{
    uint64_t a = 1, b = ~(uint64_t)count;

    for (size_t i = 0; i < count; i++) {
        a = (a ^ frames[i]) * 0x9e3779b97f4a7c15U;
        b = (b ^ frames[i]) * 0x9e3779b97f4a7c15U;
        a ^= a >> 29;
        b ^= b >> 29;
    }
    out[0] = a;
    out[1] = b;
}

/* @return false: no memory */
static bool add_stack(struct report_maker *m, const struct report_unpacked *unpacked,
                      bool truncated, uint32_t *out)
{
    struct report_model *model = m->model;
    const size_t count = unpacked->frame_count;
    struct report_stack *stack;
    uint64_t hashes[2];
    uint32_t *frames;
    bool found;

    hash(unpacked->locations, count, hashes);
    if (!report_index_find(&m->same, hashes[0], hashes[1], (uint32_t)model->stacks.count, out,
                           &found))
        return false;
    if (found)
        return true;
    stack = REPORT_NEXT(model->stacks);
    frames = REPORT_ADD(model->frames, count);
    if (!stack || !frames)
        return false;
    if (count > 0)
        memcpy(frames, unpacked->locations, count * sizeof *frames);
    *stack = (struct report_stack){ .at = (size_t)(frames - model->frames.at),
                                    .count = (uint32_t)count,
                                    .truncated = truncated,
                                    .shown_as = *out };
    return true;
}

bool report_maker_waiting(struct report_maker *m, uint32_t stack, const char *name, uint32_t *out)
{
    const struct report_model *model = m->model;
    const struct report_stack outer =
        stack != REPORT_NONE ? model->stacks.at[stack] : (struct report_stack){ .count = 0 };
    uint32_t *locations = malloc((outer.count + (size_t)1) * sizeof *locations);
    const struct report_unpacked waiting = { .locations = locations,
                                             .frame_count = outer.count + (size_t)1 };
    bool good = locations && report_locate_wait(&m->locator, name, &locations[0]);

    if (good && outer.count > 0)
        memcpy(locations + 1, model->frames.at + outer.at, outer.count * sizeof *locations);
    good = good && add_stack(m, &waiting, outer.truncated, out);
    free(locations);
    return good;
}

/* @return false: no memory */
static bool find_stack(struct report_maker *m, uint32_t number, uint32_t list, uint32_t *out)
{
    const struct report_cbf *cbf = &m->model->sources[m->source].data->stacks.at[number];
    const struct report_code_frames *calls;
    const struct report_unpacked *unpacked;
    uint32_t place, *slot;
    bool found, truncated;

    if (!report_index_find(&m->stacks, number, list, (uint32_t)m->stack_count, &place, &found))
        return false;
    if (found) {
        *out = m->stack_of[place];
        return true;
    }
    calls = report_data_code_frames(m->model->sources[m->source].data, cbf->id);
    slot = report_array_next((void **)&m->stack_of, &m->stack_count, &m->stack_room, sizeof *slot);
    if (!slot ||
        !report_unpack(&m->unpacker, &m->locator, m->source, cbf, list, &unpacked, &truncated) ||
        (calls && calls->count > 0 &&
         !report_interpreted(&m->interpreted, &m->locator, m->source, unpacked, calls,
                             m->choice->languages, &unpacked)) ||
        !add_stack(m, unpacked, truncated, out))
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

static void free_causes(struct report_maker_causes *causes)
{
    report_index_free(&causes->names);
    report_index_free(&causes->parts);
    report_index_free(&causes->shares);
}

void report_maker_end(struct report_maker *m)
{
    report_locator_end(&m->locator);
    report_unpacker_free(&m->unpacker);
    report_unpacked_free(&m->interpreted);
    report_index_free(&m->stacks);
    report_index_free(&m->same);
    report_index_free(&m->rows);
    free_causes(&m->locks);
    free_causes(&m->wakers);
    free(m->stack_of);
    free(m->last);
    free(m->wanted);
}
