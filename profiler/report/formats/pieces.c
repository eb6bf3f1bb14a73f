#include "profiler/report/formats/pieces.h"

#include <stdlib.h>

#include "profiler/report/model/parts.h"

uint64_t report_pieces_origin(const struct report_model *model)
{
    uint64_t origin = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const uint64_t time = model->sources[i].data->start.realtime;

        if (time > 0 && (origin == 0 || time < origin))
            origin = time;
    }
    return origin;
}

/* ns from the origin to the beginning of a thread's recording */
static uint64_t begins_at(const struct report_model *model, uint32_t member, uint64_t origin)
{
    const struct report_source *source = &model->sources[model->members.at[member].source];
    const uint64_t time = source->data->start.realtime;

    return time > origin ? time - origin : 0;
}

/* What has no weight is not there. */
static bool add(struct report_pieces *p, struct report_piece piece)
{
    struct report_piece *slot = piece.weight > 0 ? REPORT_NEXT(p->all) : NULL;

    piece.order = (uint32_t)p->all.count;
    if (slot)
        *slot = piece;
    return slot || piece.weight == 0;
}

static bool add_points(struct report_pieces *p, const struct report_model *model)
{
    const uint64_t origin = report_pieces_origin(model);
    bool good = true;

    for (size_t i = 0; good && i < model->points.count; i++) {
        const struct report_point *point = &model->points.at[i];
        const uint32_t member = model->rows.at[point->row].member;

        good = add(p, (struct report_piece){
                          .member = member,
                          .time = report_saturated(point->time, begins_at(model, member, origin)),
                          .weight = point->weight,
                          .row = point->row });
    }
    return good;
}

static bool add_rows(struct report_pieces *p, const struct report_model *model)
{
    bool good = true;

    for (size_t i = 0; good && i < model->rows.count; i++)
        good = add(p, (struct report_piece){ .member = model->rows.at[i].member,
                                             .weight = report_weight(model, &model->rows.at[i]),
                                             .row = (uint32_t)i });
    return good;
}

static bool add_unsampled(struct report_pieces *p, const struct report_model *model)
{
    struct report_parts parts = report_parts_of(model);
    struct report_part part;
    bool good = true;

    while (good && report_parts_next(&parts, &part))
        if (part.mark)
            good = add(
                p, (struct report_piece){
                       .member = (uint32_t)(part.member ? (size_t)(part.member - model->members.at)
                                                        : model->members.count),
                       .last = true,
                       .weight = part.values[model->main] });
    return good;
}

static int compare_in_thread(const struct report_piece *x, const struct report_piece *y)
{
    if (x->last != y->last)
        return x->last ? 1 : -1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int compare(const void *a, const void *b)
{
    const struct report_piece *x = a, *y = b;

    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return compare_in_thread(x, y);
}

static int compare_time(const void *a, const void *b)
{
    return compare_in_thread(a, b);
}

static bool are_too_many(const struct report_pieces *p, const struct report_model *model,
                         size_t most)
{
    size_t frames = 0;

    for (size_t i = 0; i < p->all.count && frames <= most; i++) {
        const struct report_piece *piece = &p->all.at[i];
        const uint32_t stack = piece->last ? REPORT_NONE : model->rows.at[piece->row].stack;

        frames += stack == REPORT_NONE ? 1 : model->stacks.at[stack].count;
    }
    return frames > most;
}

bool report_pieces_make(struct report_pieces *out, const struct report_model *model, size_t most)
{
    *out = (struct report_pieces){ .timed = model->points.count > 0 };
    for (;; out->timed = false) {
        out->all.count = 0;
        if (!(out->timed ? add_points(out, model) : add_rows(out, model)) ||
            !add_unsampled(out, model))
            return false;
        if (out->all.count > 0)
            qsort(out->all.at, out->all.count, sizeof *out->all.at, compare);
        if (!out->timed || most == 0 || !are_too_many(out, model, most))
            return true;
    }
}

void report_pieces_merge(struct report_pieces *p)
{
    struct report_piece *to = p->all.at;

    for (size_t i = 1; i < p->all.count; i++) {
        const struct report_piece *piece = &p->all.at[i];

        if (piece->member == to->member && piece->last == to->last && piece->row == to->row)
            to->weight += piece->weight;
        else
            *++to = *piece;
    }
    if (p->all.count > 0)
        p->all.count = (size_t)(to - p->all.at) + 1;
}

void report_pieces_sort_by_time(struct report_pieces *p)
{
    if (p->all.count > 0)
        qsort(p->all.at, p->all.count, sizeof *p->all.at, compare_time);
}

size_t report_pieces_end(const struct report_pieces *p, size_t at)
{
    size_t end = at;

    while (end < p->all.count && p->all.at[end].member == p->all.at[at].member)
        end++;
    return end;
}

void report_pieces_free(struct report_pieces *pieces)
{
    free(pieces->all.at);
}
