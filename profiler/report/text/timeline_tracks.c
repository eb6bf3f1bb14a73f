#include "profiler/report/text/timeline_tracks.h"

#include <stdlib.h>
#include <string.h>

static const unsigned of_state[SFB_STATE_COUNT] = {
    [SFB_STATE_RUNNABLE] = TRACK_RUNNABLE, [SFB_STATE_ASLEEP] = TRACK_ASLEEP,
    [SFB_STATE_DISK] = TRACK_DISK,         [SFB_STATE_FAULT] = TRACK_FAULT,
    [SFB_STATE_STOPPED] = TRACK_STOPPED,   [SFB_STATE_UNKNOWN] = TRACK_SHORT
};

/* @param in  " in futex known_lock (server)"; "": the call is not known */
static unsigned state_of_call(const char *in)
{
    static const struct {
        const char *call;
        unsigned state;
    } calls[] = {
        { "futex", TRACK_LOCK },
        { "epoll", TRACK_POLL },
        { "poll", TRACK_POLL },
        { "ppoll", TRACK_POLL },
        { "select", TRACK_POLL },
        { "pselect6", TRACK_POLL },
        { "io_getevents", TRACK_POLL },
        { "nanosleep", TRACK_SLEEP },
        { "clock_nanosleep", TRACK_SLEEP },
        { "read", TRACK_IO },
        { "pread", TRACK_IO },
        { "write", TRACK_IO },
        { "pwrite", TRACK_IO },
        { "recv", TRACK_IO },
        { "send", TRACK_IO },
        { "accept", TRACK_IO },
        { "connect", TRACK_IO },
        { "fsync", TRACK_IO },
        { "fdatasync", TRACK_IO },
    };

    if (strncmp(in, " in ", 4) != 0)
        return TRACK_ASLEEP;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strncmp(in + 4, calls[i].call, strlen(calls[i].call)) == 0)
            return calls[i].state;
    return TRACK_ASLEEP;
}

unsigned report_track_state_of(const struct report_model *model, const struct report_row *row)
{
    const char *wait = report_waits_in(model, row->stack);

    if (!wait)
        return TRACK_RUNNING;
    if (strcmp(wait, REPORT_WAIT_GIL) == 0)
        return TRACK_LOCK;
    for (unsigned i = 0; i < SFB_STATE_COUNT; i++) {
        const char *name = sfb_recording_state_str(i);

        if (strncmp(wait, name, strlen(name)) == 0)
            return i == SFB_STATE_ASLEEP ? state_of_call(wait + strlen(name)) : of_state[i];
    }
    return TRACK_SHORT;
}

/* The longest of the recordings, or the span that was chosen. */
static void find_span(struct report_tracks *t, const struct report_model *model)
{
    uint64_t end = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;
        const uint64_t length = report_data_end(data) - data->start.monotonic;

        end = length > end ? length : end;
    }
    t->from = model->choice.from;
    t->to = model->choice.to > 0 && model->choice.to < end ? model->choice.to : end;
    if (t->to <= t->from)
        t->to = t->from + 1;
}

static int compare(const void *a, const void *b)
{
    const struct report_track *x = a, *y = b;

    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return (x->member > y->member) - (x->member < y->member);
}

/* @return false: no memory */
static bool find_threads(struct report_tracks *t, const struct report_model *model)
{
    t->all = calloc(model->members.count + 1, sizeof *t->all);
    for (size_t i = 0; t->all && i < model->members.count; i++)
        t->all[i].member = (uint32_t)i;
    for (size_t i = 0; t->all && i < model->rows.count; i++) {
        struct report_track *track = &t->all[model->rows.at[i].member];

        track->total = report_saturated(track->total, report_weight(model, &model->rows.at[i]));
    }
    if (!t->all)
        return false;
    qsort(t->all, model->members.count, sizeof *t->all, compare);
    while (t->count < model->members.count && t->all[t->count].total > 0)
        t->count++;
    return true;
}

uint64_t report_tracks_begin(const struct report_tracks *t, unsigned column)
{
    const uint64_t length = t->to - t->from;

    return t->from + length / t->columns * column + length % t->columns * column / t->columns;
}

/* Divides a time among the columns that it was in. */
static void add(const struct report_tracks *t, uint64_t *cells, unsigned state, uint64_t from,
                uint64_t to)
{
    const uint64_t length = t->to - t->from;
    unsigned column;

    from = from > t->from ? from : t->from;
    to = to < t->to ? to : t->to;
    if (from >= to)
        return;
    column = (unsigned)((double)(from - t->from) / (double)length * t->columns);
    column = column < t->columns ? column : t->columns - 1;
    while (column > 0 && report_tracks_begin(t, column) > from)
        column--;
    for (; column < t->columns && report_tracks_begin(t, column) < to; column++) {
        const uint64_t begin = report_tracks_begin(t, column),
                       end = report_tracks_begin(t, column + 1);
        const uint64_t first = from > begin ? from : begin, last = to < end ? to : end;
        uint64_t *cell = &cells[column * TRACK_STATES + state];

        if (last > first)
            *cell = report_saturated(*cell, last - first);
    }
}

bool report_tracks_make(struct report_tracks *out, const struct report_model *model,
                        unsigned columns, uint64_t rows)
{
    uint32_t *places; /* of each member: its track + 1; 0: it is not shown */

    *out = (struct report_tracks){ .columns = columns };
    find_span(out, model);
    if (!find_threads(out, model))
        return false;
    out->shown = rows > 0 && rows < out->count ? (size_t)rows : out->count;
    out->cells = calloc(out->shown * columns * TRACK_STATES + 1, sizeof *out->cells);
    places = calloc(model->members.count + 1, sizeof *places);
    for (size_t i = 0; places && i < out->shown; i++)
        places[out->all[i].member] = (uint32_t)i + 1;
    for (size_t i = 0; places && out->cells && i < model->points.count; i++) {
        const struct report_point *p = &model->points.at[i];
        const struct report_row *row = &model->rows.at[p->row];
        const uint32_t place = places[row->member];

        if (place > 0)
            add(out, &out->cells[(size_t)(place - 1) * columns * TRACK_STATES],
                report_track_state_of(model, row), p->time > p->weight ? p->time - p->weight : 0,
                p->time);
    }
    free(places);
    return places && out->cells;
}

unsigned report_tracks_state(const struct report_tracks *t, size_t track, unsigned column)
{
    const uint64_t *cells = &t->cells[(track * t->columns + column) * TRACK_STATES];
    unsigned most = 0;

    for (unsigned i = 1; i < TRACK_STATES; i++)
        if (cells[i] > cells[most])
            most = i;
    return cells[most] > 0 ? most : TRACK_STATES;
}

void report_tracks_free(struct report_tracks *t)
{
    free(t->all);
    free(t->cells);
}
