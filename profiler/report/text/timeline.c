#include "profiler/report/text/timeline.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/timeline_tracks.h"
#include "util/base_name.h"
#include "util/counted.h"
#include "util/foreign.h"

/* Columns of a track; places, holders and wakers of a thread that are shown; width of a value. */
enum { COLUMNS = 78, COLUMNS_LEAST = 20, COLUMNS_MOST = 300, PARTS = 5, VALUE = 12 };

static const struct {
    char letter;
    enum report_colour colour;
    const char *name;
} states[TRACK_STATES + 1] = {
    [TRACK_RUNNING] = { '#', REPORT_LESS, "running" },
    [TRACK_RUNNABLE] = { '+', REPORT_WARM, "runnable" },
    [TRACK_LOCK] = { 'L', REPORT_HOT, "lock (futex)" },
    [TRACK_POLL] = { 'p', REPORT_DIM, "poll" },
    [TRACK_IO] = { 'i', REPORT_BOLD, "read, write, sockets" },
    [TRACK_SLEEP] = { 'z', REPORT_DIM, "sleep" },
    [TRACK_ASLEEP] = { '.', REPORT_DIM, "asleep elsewhere" },
    [TRACK_DISK] = { 'D', REPORT_HOT, "disk" },
    [TRACK_FAULT] = { 'F', REPORT_HOT, "page fault" },
    [TRACK_STOPPED] = { 'S', REPORT_BOLD, "stopped" },
    [TRACK_SHORT] = { ',', REPORT_DIM, "short waits" },
    [TRACK_STATES] = { ' ', REPORT_PLAIN, "" },
};

struct timeline {
    FILE *to;
    const struct report_model *model;
    const struct report_style *style;
    const struct report_unit *unit;
    struct report_tracks tracks;
    uint64_t unsampled;       /* what the tracks say of it */
    uint32_t *rows;           /* ascending by member */
    uint32_t *locks, *wakers; /* shares of them, likewise */
};

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* --- The axis ------------------------------------------------------------------------------------------- */

/* Each thread is of one recording, and of its pauses alone. */
static bool find_paused(const struct timeline *l, const struct report_data *data, unsigned column)
{
    const struct report_tracks *t = &l->tracks;
    const uint64_t from = report_tracks_begin(t, column), to = report_tracks_begin(t, column + 1);

    return data->pauses.count > 0 && to > from &&
           report_data_paused(data, from, to) > (to - from) / 2;
}

static bool has_pauses(const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++)
        if (model->sources[i].data->pauses.count > 0)
            return true;
    return false;
}

static void put_legend(const struct timeline *l)
{
    bool used[TRACK_STATES + 1] = { false };
    const char *between = "";

    for (size_t i = 0; i < l->tracks.shown; i++)
        for (unsigned k = 0; k < l->tracks.columns; k++)
            used[report_tracks_state(&l->tracks, i, k)] = true;
    for (unsigned i = 0; i < TRACK_STATES; i++) {
        if (!used[i])
            continue;
        fputs(between, l->to);
        report_colour(l->to, l->style, states[i].colour);
        fputc(states[i].letter, l->to);
        report_colour(l->to, l->style, REPORT_PLAIN);
        fprintf(l->to, " %s", states[i].name);
        between = ", ";
    }
    if (has_pauses(l->model))
        fprintf(l->to, "%s: not recorded, as asked for", between);
    fputc('\n', l->to);
}

/* Where the marks of a recording are, or their names. @return whether the span has one */
static bool put_marks_of(const struct timeline *l, const struct report_data *data, char *line,
                         bool names)
{
    const struct report_tracks *t = &l->tracks;
    bool any = false;

    for (size_t k = 0; k < data->marks.count; k++) {
        const uint64_t time = data->marks.at[k].time, start = data->start.monotonic;
        const uint64_t at = time > start ? time - start : 0;
        unsigned column;

        if (at < t->from || at >= t->to)
            continue;
        column = (unsigned)((double)(at - t->from) / (double)(t->to - t->from) * t->columns);
        any = true;
        /* Of a long span the last part is rounded up. */
        line[column < t->columns ? column : t->columns - 1] = '^';
        if (!names)
            continue;
        fprintf(l->to, "  ^ %.3f s ", seconds(at));
        foreign_print(l->to, data->marks.at[k].name);
        fputc('\n', l->to);
    }
    return any;
}

/* Marks of the span, and below them their names. */
static void put_marks(const struct timeline *l)
{
    char line[COLUMNS_MOST + 1];
    bool any = false;

    memset(line, ' ', sizeof line);
    line[l->tracks.columns] = '\0';
    for (int names = 0; names < 2; names++) {
        for (size_t i = 0; i < l->model->source_count; i++)
            any |= put_marks_of(l, l->model->sources[i].data, line, names == 1);
        if (names == 0 && any)
            fprintf(l->to, "  %s\n", line);
    }
}

static void put_head(const struct timeline *l)
{
    const struct report_tracks *t = &l->tracks;

    fprintf(l->to, "%.3f to %.3f s, a column is %.3f ms\n", seconds(t->from), seconds(t->to),
            (double)(t->to - t->from) / t->columns / 1e6);
    put_legend(l);
    put_marks(l);
}

/* --- A thread ------------------------------------------------------------------------------------------- */

struct part {
    uint64_t total;
    const char *what; /* of a row */
    uint32_t number;
};

static int by_text(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    const int order = strcmp(x->what, y->what);

    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static int compare(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static void put_track(const struct timeline *l, size_t number)
{
    const struct report_member *m = &l->model->members.at[l->tracks.all[number].member];
    const struct report_data *data = l->model->sources[m->source].data;
    enum report_colour now = REPORT_PLAIN;

    fputs("  ", l->to);
    for (unsigned i = 0; i < l->tracks.columns; i++) {
        const unsigned state = report_tracks_state(&l->tracks, number, i);

        if (states[state].colour != now) {
            report_colour(l->to, l->style, REPORT_PLAIN);
            now = states[state].colour;
            if (now != REPORT_PLAIN)
                report_colour(l->to, l->style, now);
        }
        fputc(find_paused(l, data, i) ? ':' : states[state].letter, l->to);
    }
    report_colour(l->to, l->style, REPORT_PLAIN);
    fputc('\n', l->to);
}

static void put_value(const struct timeline *l, uint64_t value)
{
    fprintf(l->to, "%*.*f %s  ", VALUE, l->unit->decimals, report_in_unit(l->unit, value),
            l->unit->name);
}

/* What a thread did: "running", or what it waited in and for. */
static const char *what_of(const struct report_model *model, uint32_t row)
{
    const char *wait = report_waits_in(model, model->rows.at[row].stack);

    return wait ? wait : "running";
}

/* The first of a list, which ascends by member, that is not below one. */
#define FIRST_OF(list, size, all, wanted, out)                                                     \
    do {                                                                                           \
        size_t high = (size);                                                                      \
                                                                                                   \
        for ((out) = 0; (out) < high;) {                                                           \
            const size_t middle = (out) + (high - (out)) / 2;                                      \
                                                                                                   \
            if ((all)[(list)[middle]].member < (wanted))                                           \
                (out) = middle + 1;                                                                \
            else                                                                                   \
                high = middle;                                                                     \
        }                                                                                          \
    } while (0)

/* Rows of equal words are one part. @return how many there are; SIZE_MAX: no memory */
static size_t find_parts(struct part **out, const struct timeline *l, uint32_t member)
{
    const struct report_model *model = l->model;
    size_t first, end, count = 0;
    struct part *parts;

    FIRST_OF(l->rows, model->rows.count, model->rows.at, member, first);
    for (end = first; end < model->rows.count && model->rows.at[l->rows[end]].member == member;)
        end++;
    *out = parts = malloc((end - first + 1) * sizeof *parts);
    if (!parts)
        return SIZE_MAX;
    for (size_t i = first; i < end; i++)
        parts[i - first] = (struct part){ report_weight(model, &model->rows.at[l->rows[i]]),
                                          what_of(model, l->rows[i]), l->rows[i] };
    if (end - first > 1)
        qsort(parts, end - first, sizeof *parts, by_text);
    for (size_t i = 0; i < end - first; i++)
        if (count > 0 && strcmp(parts[count - 1].what, parts[i].what) == 0)
            parts[count - 1].total = report_saturated(parts[count - 1].total, parts[i].total);
        else
            parts[count++] = parts[i];
    if (count > 1)
        qsort(parts, count, sizeof *parts, compare);
    return count;
}

static bool put_parts(const struct timeline *l, uint32_t member)
{
    struct part *parts;
    const size_t count = find_parts(&parts, l, member);

    for (size_t i = 0; count != SIZE_MAX && i < count && i < PARTS; i++) {
        put_value(l, parts[i].total);
        report_name_put(l->to, l->style, what_of(l->model, parts[i].number), 0);
        fputc('\n', l->to);
    }
    if (count != SIZE_MAX && count > PARTS) {
        uint64_t rest = 0;

        for (size_t i = PARTS; i < count; i++)
            rest = report_saturated(rest, parts[i].total);
        put_value(l, rest);
        fprintf(l->to, "[%zu more]\n", count - PARTS);
    }
    free(parts);
    return count != SIZE_MAX;
}

static void put_thread_name(const struct timeline *l, uint32_t member)
{
    const struct report_thread *thread = l->model->members.at[member].thread;

    fprintf(l->to, "thread %" PRIu32 " ", thread->tid);
    foreign_print(l->to, thread->name);
}

static void put_holder(const struct timeline *l, const struct report_cause_share *share)
{
    fputs("for ", l->to);
    report_name_put(l->to, l->style,
                    report_text(l->model, l->model->locks.all.at[share->cause].name), 0);
    fputs(", which ", l->to);
    put_thread_name(l, share->other);
    fputs(" had\n", l->to);
}

static void put_waker(const struct timeline *l, const struct report_cause_share *share)
{
    fputs("ended by ", l->to);
    if (share->other != REPORT_NONE)
        put_thread_name(l, share->other);
    else
        report_name_put(l->to, l->style,
                        report_text(l->model, l->model->wakers.all.at[share->cause].name), 0);
    fputc('\n', l->to);
}

/*
 * What a thread's waits are counted by: which threads had the locks, what ended the waits.
 *
 * @param by_member  numbers of shares
 * @param others     of what the rest is
 * @return false: no memory
 */
static bool put_shares(const struct timeline *l, uint32_t member, const uint32_t *by_member,
                       const struct report_causes *causes,
                       void (*put)(const struct timeline *l,
                                   const struct report_cause_share *share),
                       const char *others)
{
    size_t first, end, count = 0;
    struct part *parts;

    FIRST_OF(by_member, causes->shares.count, causes->shares.at, member, first);
    for (end = first;
         end < causes->shares.count && causes->shares.at[by_member[end]].member == member;)
        end++;
    parts = malloc((end - first + 1) * sizeof *parts);
    for (size_t i = first; parts && i < end; i++)
        parts[count++] =
            (struct part){ .total = causes->shares.at[by_member[i]].total, .number = by_member[i] };
    if (count > 1)
        qsort(parts, count, sizeof *parts, compare);
    for (size_t i = 0; i < count && i < PARTS; i++) {
        put_value(l, parts[i].total);
        fputs("of that ", l->to);
        put(l, &causes->shares.at[parts[i].number]);
    }
    if (count > PARTS) {
        uint64_t rest = 0;

        for (size_t i = PARTS; i < count; i++)
            rest = report_saturated(rest, parts[i].total);
        put_value(l, rest);
        fprintf(l->to, "of that %s by others [%zu more]\n", others, count - PARTS);
    }
    free(parts);
    return parts != NULL;
}

/* CPU time of which it is not known when it was, so that no column has it. */
static void put_unsampled(const struct timeline *l, uint64_t ns)
{
    fprintf(l->to, "%.*f %s of CPU time that no sample has\n", l->unit->decimals,
            report_in_unit(l->unit, ns), l->unit->name);
}

static bool put_thread(struct timeline *l, size_t number)
{
    const struct report_track *t = &l->tracks.all[number];
    const struct report_member *m = &l->model->members.at[t->member];
    const uint64_t unsampled = report_member_unsampled(l->model, m);

    report_colour(l->to, l->style, REPORT_BOLD);
    fprintf(l->to, "%" PRIu32 " ", m->thread->tid);
    foreign_print(l->to, m->thread->name);
    report_colour(l->to, l->style, REPORT_PLAIN);
    fputs(" (", l->to);
    foreign_print(l->to, sfb_base_name(m->process->program));
    fprintf(l->to, " %" PRIu32 "), %.*f %s%s", m->process->pid, l->unit->decimals,
            report_in_unit(l->unit, t->total), l->unit->name, unsampled > 0 ? ", and " : "\n");
    if (unsampled > 0)
        put_unsampled(l, unsampled);
    l->unsampled = report_saturated(l->unsampled, unsampled);
    put_track(l, number);
    return put_parts(l, t->member) &&
           put_shares(l, t->member, l->locks, &l->model->locks, put_holder, "had") &&
           put_shares(l, t->member, l->wakers, &l->model->wakers, put_waker, "ended");
}

static void put_idle(const struct timeline *l)
{
    for (size_t i = 0; i < l->model->idle.count; i++) {
        const struct report_idle *idle = &l->model->idle.at[i];

        fprintf(l->to, "\nnot in it: %s ", counted(idle->threads, "idle threads").text);
        foreign_print(l->to, idle->name);
        fputc(' ', l->to);
        foreign_print(l->to, report_waits_in(l->model, idle->stack));
        fputc('\n', l->to);
    }
}

static unsigned columns_of(const struct report_style *style)
{
    const unsigned wide = style->width > 2 ? style->width - 2 : COLUMNS;

    return wide < COLUMNS_LEAST ? COLUMNS_LEAST : wide < COLUMNS_MOST ? wide : COLUMNS_MOST;
}

/* A list whose elements name a member, at an offset. */
struct member_list {
    const void *at;
    size_t count, size, offset;
};

static uint32_t member_at(const struct member_list *list, size_t i)
{
    uint32_t member;

    memcpy(&member, (const uint8_t *)list->at + i * list->size + list->offset, sizeof member);
    return member;
}

/* Numbers of elements, by member, ascending. @return for free(); NULL: no memory */
static uint32_t *by_member(const struct member_list *list, size_t members)
{
    size_t *next = calloc(members + 1, sizeof *next);
    uint32_t *out = next ? malloc((list->count + 1) * sizeof *out) : NULL;

    for (size_t i = 0; out && i < list->count; i++)
        next[member_at(list, i) + 1]++;
    for (size_t i = 0; out && i < members; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; out && i < list->count; i++)
        out[next[member_at(list, i)]++] = (uint32_t)i;
    free(next);
    return out;
}

static uint32_t *shares_by_member(const struct report_causes *causes, size_t members)
{
    const struct member_list shares = { causes->shares.at, causes->shares.count,
                                        sizeof *causes->shares.at,
                                        offsetof(struct report_cause_share, member) };

    return by_member(&shares, members);
}

/* What each thread's part is made of. @return false: no memory */
static bool gather(struct timeline *l)
{
    const struct report_model *m = l->model;
    const struct member_list rows = { m->rows.at, m->rows.count, sizeof *m->rows.at,
                                      offsetof(struct report_row, member) };

    l->rows = by_member(&rows, m->members.count);
    l->locks = shares_by_member(&m->locks, m->members.count);
    l->wakers = shares_by_member(&m->wakers, m->members.count);
    return l->rows && l->locks && l->wakers;
}

bool report_timeline_write(FILE *to, const struct report_model *model,
                           const struct report_style *style, uint64_t rows)
{
    struct timeline l = { .to = to, .model = model, .style = style };
    bool good = report_tracks_make(&l.tracks, model, columns_of(style), rows);

    good = good && gather(&l);
    if (good) {
        l.unit = report_unit_of(style, REPORT_TIME, l.tracks.count > 0 ? l.tracks.all[0].total : 0);
        put_head(&l);
    }
    for (size_t i = 0; good && i < l.tracks.shown; i++) {
        fputc('\n', to);
        good = put_thread(&l, i);
    }
    if (good && l.tracks.count > l.tracks.shown)
        fprintf(to, "\n[%zu more]\n", l.tracks.count - l.tracks.shown);
    if (good && l.tracks.count == 0)
        fputs("no thread has time in it\n", to);
    if (good && l.unsampled < model->unsampled) {
        fputs("\nnot in it: ", to);
        put_unsampled(&l, model->unsampled - l.unsampled);
    }
    if (good)
        put_idle(&l);
    report_tracks_free(&l.tracks);
    free(l.rows);
    free(l.locks);
    free(l.wakers);
    return good;
}
