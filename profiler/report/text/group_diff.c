#include "profiler/report/text/group_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/parts.h"
#include "profiler/report/text/name.h"

/* Shares of all recordings of a group so far. */
struct spread {
    double sum, squares;
};

/* Of an entity: self and total. */
struct means {
    struct spread of[2][REPORT_GROUPS];
    double now[2]; /* ns in the recording at hand */
    bool noted;    /* it is in `noted` */
    size_t last;   /* row that was counted last, + 1 */
};

struct group_diff {
    const struct report_model *model;
    struct report_entities entities;
    REPORT_ARRAY(struct means) means; /* of each entity */
    REPORT_ARRAY(uint32_t) noted;     /* entities of the recording at hand */
    double *all;                      /* ns of each recording */
    size_t counts[REPORT_GROUPS];     /* recordings with CPU time */
};

/* --- Sums -------------------------------------------------------------------------------------- */

static bool note(struct group_diff *d, uint32_t entity, enum report_sort which, double weight)
{
    struct means *m = &d->means.at[entity];
    uint32_t *slot;

    m->now[which] += weight;
    if (m->noted)
        return true;
    slot = REPORT_NEXT(d->noted);
    if (slot)
        *slot = entity;
    m->noted = true;
    return slot != NULL;
}

static bool note_both(struct group_diff *d, uint32_t entity, double weight)
{
    return note(d, entity, REPORT_SORT_SELF, weight) && note(d, entity, REPORT_SORT_TOTAL, weight);
}

static bool count_row(struct group_diff *d, size_t index)
{
    const struct report_row *row = &d->model->rows.at[index];
    const double weight = (double)report_weight(d->model, row);
    struct report_steps steps = report_steps_of(d->model, row->stack);
    struct report_step step;
    bool good = true;

    if (!report_by_is_called(d->entities.by))
        return note_both(d, report_entity_of_row(&d->entities, row), weight);
    for (bool leaf = true; good && report_steps_next(&steps, &step); leaf = false) {
        const uint32_t entity = report_entity_of_step(&d->entities, &step);

        if (d->means.at[entity].last != index + 1)
            good = note(d, entity, REPORT_SORT_TOTAL, weight);
        if (leaf)
            good = good && note(d, entity, REPORT_SORT_SELF, weight);
        d->means.at[entity].last = index + 1;
    }
    return good;
}

/* A recording is over: its shares are what counts. */
static void end_source(struct group_diff *d, size_t source)
{
    const uint32_t group = d->model->sources[source].group;

    for (size_t i = 0; i < d->noted.count; i++) {
        struct means *m = &d->means.at[d->noted.at[i]];

        for (size_t which = 0; which < 2; which++) {
            const double share = 100.0 * m->now[which] / d->all[source];

            m->of[which][group].sum += share;
            m->of[which][group].squares += share * share;
            m->now[which] = 0.0;
        }
        m->noted = false;
    }
    d->counts[group] += d->all[source] > 0.0;
    d->noted.count = 0;
}

/* Rows come recording by recording, as they were read. */
static bool count_all(struct group_diff *d)
{
    const struct report_model *model = d->model;
    bool good = true;

    for (size_t source = 0, row = 0; good && source < model->source_count; source++) {
        double rows = 0.0;

        for (; good && row < model->rows.count &&
               model->members.at[model->rows.at[row].member].source == source;
             row++) {
            rows += (double)report_weight(model, &model->rows.at[row]);
            good = count_row(d, row);
        }
        if (good && report_by_is_called(d->entities.by) && d->all[source] > rows)
            good = note_both(d, REPORT_ENTITY_UNSAMPLED, d->all[source] - rows);
        end_source(d, source);
    }
    return good;
}

static bool make(struct group_diff *d, const struct report_model *model, enum report_by by)
{
    struct report_parts parts = report_parts_of(model);
    struct report_part part;

    *d = (struct group_diff){ .model = model,
                              .all = calloc(model->source_count + 1, sizeof *d->all) };
    if (!report_entities_make(&d->entities, model, by) || !d->all)
        return false;
    while (report_parts_next(&parts, &part))
        d->all[part.source] += (double)part.values[model->main];
    while (d->means.count < d->entities.all.count)
        if (!REPORT_NEXT(d->means))
            return false;
    return count_all(d);
}

/* --- Changes ----------------------------------------------------------------------------------- */

static double mean(const struct group_diff *d, uint32_t entity, enum report_sort which,
                   uint32_t group)
{
    return d->counts[group] > 0
               ? d->means.at[entity].of[which][group].sum / (double)d->counts[group]
               : 0.0;
}

static double change(const struct group_diff *d, uint32_t entity, enum report_sort which)
{
    return mean(d, entity, which, 1) - mean(d, entity, which, 0);
}

/* @return below 0: not known */
static double error(const struct group_diff *d, uint32_t entity, enum report_sort which)
{
    double sum = 0.0;

    for (uint32_t g = 0; g < REPORT_GROUPS; g++) {
        const struct spread *s = &d->means.at[entity].of[which][g];
        const double n = (double)d->counts[g];
        const double variance = n > 1.0 ? (s->squares - s->sum * s->sum / n) / (n - 1.0) : 0.0;

        if (n < 2.0)
            return -1.0;
        sum += variance > 0.0 ? variance / n : 0.0;
    }
    return sqrt(sum);
}

struct key {
    double size;
    uint32_t entity;
};

static int compare(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return (x->entity > y->entity) - (x->entity < y->entity);
}

/* --- The table --------------------------------------------------------------------------------- */

static void put_change(FILE *to, const struct group_diff *d, const struct report_style *style,
                       uint32_t entity, enum report_sort which)
{
    const double by = change(d, entity, which), plus_minus = error(d, entity, which);

    report_colour(to, style, by > 0.0 ? REPORT_MORE : by < 0.0 ? REPORT_LESS : REPORT_PLAIN);
    fprintf(to, "%+8.2f ", by);
    report_colour(to, style, REPORT_PLAIN);
    if (plus_minus < 0.0)
        fprintf(to, "%8s  ", "?");
    else
        fprintf(to, "%8.2f  ", plus_minus);
}

enum { BEFORE = 56, BEFORE_WHOLE = 38, NAME_MIN = 12 };

static void put_row(FILE *to, const struct group_diff *d, const struct report_style *style,
                    uint32_t entity)
{
    const struct report_entity *e = &d->entities.all.at[entity];
    const bool called = report_by_is_called(d->entities.by);
    const unsigned before = called ? BEFORE : BEFORE_WHOLE;

    for (uint32_t g = 0; g < REPORT_GROUPS; g++)
        fprintf(to, "%7.2f  ", mean(d, entity, REPORT_SORT_SELF, g));
    put_change(to, d, style, entity, REPORT_SORT_SELF);
    if (called)
        put_change(to, d, style, entity, REPORT_SORT_TOTAL);
    report_name_put_in(to, style, e->name, e->module,
                       style->width == 0                  ? 0
                       : style->width > before + NAME_MIN ? style->width - before
                                                          : NAME_MIN);
    putc('\n', to);
}

static void put_table(FILE *to, const struct group_diff *d, const struct report_style *style,
                      const struct report_top *top, const struct key *keys, size_t count)
{
    const bool called = report_by_is_called(d->entities.by);
    size_t shown = 0;

    fprintf(to, "shares of %zu old and %zu new recordings, their means\n", d->counts[0],
            d->counts[1]);
    report_colour(to, style, REPORT_BOLD);
    fprintf(to, "  old %%    new %%  %8s        \u00b1  ", called ? "self" : "change");
    if (called)
        fprintf(to, "%8s        \u00b1  ", "total");
    fprintf(to, "%s", report_by_heading(top->by));
    report_colour(to, style, REPORT_PLAIN);
    putc('\n', to);
    for (size_t i = 0; i < count; i++)
        if ((top->rows == 0 || shown < top->rows) && keys[i].size >= top->percent) {
            put_row(to, d, style, keys[i].entity);
            shown++;
        }
    if (shown < count)
        fprintf(to, "%*s[%zu more]\n", called ? BEFORE : BEFORE_WHOLE, "", count - shown);
}

bool report_group_diff_write(FILE *to, const struct report_model *model,
                             const struct report_style *style, const struct report_top *top)
{
    struct group_diff d;
    struct key *keys = NULL;
    size_t count = 0;

    if (make(&d, model, top->by))
        keys = calloc(d.means.count + 1, sizeof *keys);
    for (uint32_t i = 0; keys && i < d.means.count; i++)
        if (mean(&d, i, REPORT_SORT_TOTAL, 0) > 0.0 || mean(&d, i, REPORT_SORT_TOTAL, 1) > 0.0)
            keys[count++] = (struct key){ fabs(change(&d, i, top->sort)), i };
    if (keys) {
        qsort(keys, count, sizeof *keys, compare);
        put_table(to, &d, style, top, keys, count);
    }
    free(keys);
    report_entities_free(&d.entities);
    free(d.means.at);
    free(d.noted.at);
    free(d.all);
    return keys != NULL;
}
