/*
 * Stacks are of the modules that were there: one CBF is two stacks if a library was replaced between two samples of
 * it. So a CBF is decoded once for each list of modules, and an address is asked for once for each. What is then the
 * same (a place in a module; a stack of the same locations) is there once, whoever had it.
 */
#include "report/make.h"

#include <stdlib.h>
#include <string.h>

#include "report/index.h"
#include "report/locate.h"
#include "sfb/cbf.h"

/* Deeper ones are cut off at their outer end. */
enum { FRAMES_MAX = 1 << 16 };

enum { VALUE_SAMPLES, VALUE_CPU };

/* What the last sample of a CBF became: mostly the next one is of the same modules and thread. */
struct last {
    uint32_t list, stack; /* stack is known if `known` */
    uint32_t member, row; /* REPORT_NONE: none yet */
    bool known;
};

struct maker {
    struct report_model *model;
    const struct report_choice *choice;
    struct report_locator locator;
    struct report_index stacks; /* of a recording: by CBF and list */
    struct report_index same;   /* by two hashes of the frames */
    struct report_index rows;   /* by thread and stack */
    uint32_t *stack_of;         /* of what `stacks` numbers: the stack */
    size_t stack_count, stack_room;
    struct last *last;     /* of each CBF of the recording */
    uint32_t source;       /* index */
    uint32_t first_member; /* its first thread in `members` */
    char *wanted;          /* of each string: 0 not asked, 1 no, 2 yes */
    size_t wanted_room;
    bool failed; /* no memory */
};

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
    uint32_t location = (uint32_t)REPORT_OMITTED;

    if (item->kind != SFB_FRAME_OMIT)
        m->failed |= !report_locate(&m->locator, m->source, cbf->process, list,
                                    item->value - is_call, &location);
    if (!m->failed)
        add_frame(m, location);
}

/* @return whether the stack is cut off */
static bool add_items(struct maker *m, const struct report_cbf *cbf, uint32_t list)
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
static bool decode(struct maker *m, const struct report_cbf *cbf, uint32_t list, uint32_t *out)
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
    *stack = (struct report_stack){ .at = at, .count = (uint32_t)count, .truncated = truncated };
    return true;
}

/* @return false: no memory */
static bool find_stack(struct maker *m, uint32_t number, uint32_t list, uint32_t *out)
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

/* @return false: no memory */
static bool stack_of(struct maker *m, const struct report_sample *sample, uint32_t *out)
{
    const struct report_data *data = m->model->sources[m->source].data;
    struct last *last;
    uint32_t list;

    *out = REPORT_NONE;
    if (sample->stack == REPORT_NONE)
        return true;
    last = &m->last[sample->stack];
    list = report_data_list(data, data->stacks.at[sample->stack].process, sample->time);
    if (!last->known || last->list != list) {
        if (!find_stack(m, sample->stack, list, &last->stack))
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
static bool name_wanted(struct maker *m, uint32_t string, bool *out)
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

/* Whether a stack has a function that is wanted. @return false: no memory */
static bool stack_wanted(struct maker *m, uint32_t stack, bool *out)
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

/* @return the row; NULL: no memory */
static struct report_row *find_row(struct maker *m, uint32_t member, uint32_t stack)
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
    if (row) {
        row->member = member;
        row->stack = stack;
        row->group = model->sources[m->source].group;
    }
    return row;
}

/* @return the row; NULL: no memory */
static struct report_row *row_of(struct maker *m, const struct report_sample *sample,
                                 uint32_t member, uint32_t stack)
{
    struct last *last = sample->stack == REPORT_NONE ? NULL : &m->last[sample->stack];
    struct report_row *row;

    if (last && last->row != REPORT_NONE && last->member == member)
        return &m->model->rows.at[last->row];
    row = find_row(m, member, stack);
    if (row && last) {
        last->member = member;
        last->row = (uint32_t)(row - m->model->rows.at);
    }
    return row;
}

/* @return false: no memory */
static bool add_sample(struct maker *m, const struct report_sample *sample)
{
    struct report_model *model = m->model;
    const struct report_data *data = model->sources[m->source].data;
    const uint64_t start = data->start.monotonic;
    const uint64_t time = sample->time > start ? sample->time - start : 0;
    const uint32_t member = m->first_member + sample->thread;
    struct report_point *point;
    struct report_row *row;
    uint32_t stack;
    bool wanted;

    if (!model->members.at[member].wanted || !report_choice_has_time(m->choice, time))
        return true;
    if (!stack_of(m, sample, &stack) || !stack_wanted(m, stack, &wanted))
        return false;
    if (!wanted)
        return true;
    row = row_of(m, sample, member, stack);
    point = REPORT_NEXT(model->points);
    if (!row || !point)
        return false;
    row->values[VALUE_SAMPLES]++;
    row->values[VALUE_CPU] += sample->weight;
    *point = (struct report_point){ time, sample->weight, (uint32_t)(row - model->rows.at) };
    model->totals[VALUE_SAMPLES]++;
    model->totals[VALUE_CPU] += sample->weight;
    model->truncated += stack != REPORT_NONE && model->stacks.at[stack].truncated;
    model->by_end[sample->end < 255 ? sample->end : 255]++;
    if (sample->engine < 8 && sample->engine != data->start.engine)
        model->by_other[sample->engine]++;
    return true;
}

/* @return false: no memory */
static bool add_members(struct maker *m)
{
    const struct report_data *data = m->model->sources[m->source].data;

    m->first_member = (uint32_t)m->model->members.count;
    for (size_t i = 0; i < data->threads.count; i++) {
        const struct report_thread *thread = &data->threads.at[i];
        const struct report_process *process = &data->processes.at[thread->process];
        struct report_member *member = REPORT_NEXT(m->model->members);

        if (!member)
            return false;
        *member = (struct report_member){ .source = m->source,
                                          .thread = thread,
                                          .process = process,
                                          .wanted = report_choice_has_process(m->choice, process) &&
                                                    report_choice_has_thread(m->choice, thread) };
    }
    return true;
}

static void add_unsampled(struct report_model *model)
{
    for (size_t i = 0; i < model->members.count; i++)
        model->unsampled += report_member_unsampled(model, &model->members.at[i]);
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->processes.count; k++)
            model->unsampled += report_process_unsampled(model, &data->processes.at[k]);
    }
}

static bool add_source(struct maker *m, uint32_t source)
{
    const struct report_data *data = m->model->sources[source].data;
    bool good;

    m->source = source;
    report_index_free(&m->stacks);
    m->stack_count = 0;
    free(m->last);
    m->last = calloc(data->stacks.count + 1, sizeof *m->last);
    good = m->last && add_members(m);
    for (size_t i = 0; good && i < data->samples.count; i++)
        good = add_sample(m, &data->samples.at[i]);
    return good;
}

bool report_model_make(struct report_model *out, const struct report_source *sources, size_t count,
                       const struct report_choice *choice)
{
    static const struct report_choice all = { .from = 0 };
    const struct report_choice *c = choice ? choice : &all;
    struct maker m = { .model = out, .choice = c };
    bool good = true;

    *out = (struct report_model){ .sources = sources,
                                  .source_count = count,
                                  .types = { [VALUE_SAMPLES] = { "samples", "count" },
                                             [VALUE_CPU] = { "cpu", "nanoseconds" } },
                                  .type_count = 2,
                                  .main = VALUE_CPU,
                                  .choice = *c };
    report_locator_begin(&m.locator, out, c->no_inlines);
    for (size_t i = 0; good && i < count; i++)
        good = add_source(&m, (uint32_t)i);
    if (good)
        add_unsampled(out);
    report_locator_end(&m.locator);
    report_index_free(&m.stacks);
    report_index_free(&m.same);
    report_index_free(&m.rows);
    free(m.stack_of);
    free(m.last);
    free(m.wanted);
    return good;
}
