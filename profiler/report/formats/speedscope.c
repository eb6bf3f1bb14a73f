#include "profiler/report/formats/speedscope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/json.h"
#include "profiler/report/model/parts.h"

/* Frames of marks: they follow the functions' frames. */
static const char *const marks[] = { "[omitted]", "[truncated]", "[no stack]", "[unsampled]" };

enum { MARK_OMITTED, MARK_TRUNCATED, MARK_NO_STACK, MARK_UNSAMPLED, MARKS };

/* A file of 100 MiB: the page takes no more of them. */
enum { FRAMES_BY_TIME = 1 << 24 };

/* Samples of one row that follow each other, or what was never sampled. */
struct piece {
    uint32_t member; /* index; the number of them: of no thread */
    bool last;       /* behind all that have a time */
    uint64_t time, weight;
    uint32_t row;   /* index; not used with last */
    uint32_t order; /* in the file, of two with one time */
};

struct scope {
    const struct report_model *model;
    FILE *to;
    REPORT_ARRAY(struct piece) pieces;
    REPORT_ARRAY(uint32_t) frames; /* of a stack, leaf first */
};

struct profile {
    size_t at, count; /* in `pieces` */
    uint64_t weight;
};

/* --- Pieces ------------------------------------------------------------------------------------ */

static bool add(struct scope *s, struct piece piece)
{
    struct piece *slot = piece.weight > 0 ? REPORT_NEXT(s->pieces) : NULL;

    piece.order = (uint32_t)s->pieces.count;
    if (slot)
        *slot = piece;
    return slot || piece.weight == 0;
}

static bool add_points(struct scope *s)
{
    const struct report_model *model = s->model;
    bool good = true;

    for (size_t i = 0; good && i < model->points.count; i++) {
        const struct report_point *p = &model->points.at[i];

        good = add(s, (struct piece){ .member = model->rows.at[p->row].member,
                                      .time = p->time,
                                      .weight = p->weight,
                                      .row = p->row });
    }
    return good;
}

static bool add_rows(struct scope *s)
{
    const struct report_model *model = s->model;
    bool good = true;

    for (size_t i = 0; good && i < model->rows.count; i++)
        good = add(s, (struct piece){ .member = model->rows.at[i].member,
                                      .weight = report_weight(model, &model->rows.at[i]),
                                      .row = (uint32_t)i });
    return good;
}

static bool add_unsampled(struct scope *s)
{
    struct report_parts parts = report_parts_of(s->model);
    struct report_part part;
    bool good = true;

    while (good && report_parts_next(&parts, &part))
        if (part.mark)
            good = add(
                s, (struct piece){ .member = (uint32_t)(part.member ? (size_t)(part.member -
                                                                               s->model->members.at)
                                                                    : s->model->members.count),
                                   .last = true,
                                   .weight = part.values[s->model->main] });
    return good;
}

static int compare(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    if (x->last != y->last)
        return x->last ? 1 : -1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Equal ones that follow each other become one. */
static void merge(struct scope *s)
{
    struct piece *to = s->pieces.at;

    for (size_t i = 1; i < s->pieces.count; i++) {
        const struct piece *p = &s->pieces.at[i];

        if (p->member == to->member && p->last == to->last && p->row == to->row)
            to->weight += p->weight;
        else
            *++to = *p;
    }
    if (s->pieces.count > 0)
        s->pieces.count = (size_t)(to - s->pieces.at) + 1;
}

static bool are_too_many(const struct scope *s)
{
    const struct report_model *model = s->model;
    size_t frames = 0;

    for (size_t i = 0; i < s->pieces.count && frames <= FRAMES_BY_TIME; i++) {
        const struct piece *p = &s->pieces.at[i];
        const uint32_t stack = p->last ? REPORT_NONE : model->rows.at[p->row].stack;

        frames += stack == REPORT_NONE ? 1 : model->stacks.at[stack].count;
    }
    return frames > FRAMES_BY_TIME;
}

/* By time; what has no times, or too many of them, by rows. */
static bool make_pieces(struct scope *s)
{
    for (bool by_time = s->model->points.count > 0;; by_time = false) {
        s->pieces.count = 0;
        if (!(by_time ? add_points(s) : add_rows(s)) || !add_unsampled(s))
            return false;
        if (s->pieces.count > 0)
            qsort(s->pieces.at, s->pieces.count, sizeof *s->pieces.at, compare);
        merge(s);
        if (!by_time || !are_too_many(s))
            return true;
    }
}

/* --- Profiles ---------------------------------------------------------------------------------- */

static bool add_frame(struct scope *s, uint32_t frame)
{
    uint32_t *slot = REPORT_NEXT(s->frames);

    if (slot)
        *slot = frame;
    return slot != NULL;
}

static bool take_stack(struct scope *s, const struct piece *piece)
{
    const struct report_model *model = s->model;
    const uint32_t mark = (uint32_t)model->functions.count;
    struct report_steps steps;
    struct report_step step;
    bool good = true;

    s->frames.count = 0;
    if (piece->last)
        return add_frame(s, mark + MARK_UNSAMPLED);
    if (report_has_no_stack(model, model->rows.at[piece->row].stack))
        return add_frame(s, mark + MARK_NO_STACK);
    steps = report_steps_of(model, model->rows.at[piece->row].stack);
    while (good && report_steps_next(&steps, &step))
        good = add_frame(s, step.line                                     ? step.line->function
                            : strcmp(step.mark, marks[MARK_OMITTED]) == 0 ? mark + MARK_OMITTED
                                                                          : mark + MARK_TRUNCATED);
    return good;
}

/* Numbers are put together by hand: there are tens of millions of them. */
static void put_number(FILE *to, uint32_t number)
{
    char digits[10], *at = digits + sizeof digits;

    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    fwrite(at, 1, (size_t)(digits + sizeof digits - at), to);
}

static bool put_samples(struct scope *s, const struct profile *profile)
{
    for (size_t i = 0; i < profile->count; i++) {
        if (!take_stack(s, &s->pieces.at[profile->at + i]))
            return false;
        fputs(i > 0 ? ",[" : "[", s->to);
        for (size_t k = s->frames.count; k-- > 0;) {
            put_number(s->to, s->frames.at[k]);
            if (k > 0)
                putc(',', s->to);
        }
        putc(']', s->to);
    }
    return true;
}

/* "worker (1234)" */
static bool put_name(const struct scope *s, uint32_t member)
{
    const struct report_model *model = s->model;
    const struct report_member *m;
    char *name;

    if (member == model->members.count) {
        report_json_text(s->to, "[no thread]");
        return true;
    }
    m = &model->members.at[member];
    if (asprintf(&name, "%s%s (%" PRIu32 ")",
                 !report_model_compares(model)          ? ""
                 : model->sources[m->source].group == 0 ? "old: "
                                                        : "new: ",
                 m->thread->name, m->thread->tid) < 0)
        return false;
    report_json_text(s->to, name);
    free(name);
    return true;
}

static bool put_profile(struct scope *s, const struct profile *profile)
{
    const char *unit = s->model->types[s->model->main].unit;
    bool good;

    fputs("{\"type\":\"sampled\",\"name\":", s->to);
    good = put_name(s, s->pieces.at[profile->at].member);
    fprintf(s->to, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
            strcmp(unit, "count") == 0 ? "none" : unit, profile->weight);
    good = good && put_samples(s, profile);
    fputs("],\"weights\":[", s->to);
    for (size_t i = 0; i < profile->count; i++)
        fprintf(s->to, "%s%" PRIu64, i > 0 ? "," : "", s->pieces.at[profile->at + i].weight);
    fputs("]}", s->to);
    return good;
}

static int compare_profiles(const void *a, const void *b)
{
    const struct profile *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool put_profiles(struct scope *s)
{
    REPORT_ARRAY(struct profile) profiles = { .count = 0 };
    struct profile *profile = NULL;
    bool good = true;

    for (size_t i = 0; good && i < s->pieces.count; i++) {
        if (i == 0 || s->pieces.at[i].member != s->pieces.at[i - 1].member) {
            profile = REPORT_NEXT(profiles);
            if (profile)
                profile->at = i;
        }
        good = profile != NULL;
        if (good) {
            profile->count++;
            profile->weight += s->pieces.at[i].weight;
        }
    }
    if (good && profiles.count > 0)
        qsort(profiles.at, profiles.count, sizeof *profiles.at, compare_profiles);
    for (size_t i = 0; good && i < profiles.count; i++) {
        fputs(i > 0 ? ",\n" : "\n", s->to);
        good = put_profile(s, &profiles.at[i]);
    }
    free(profiles.at);
    return good;
}

/* --- The file ---------------------------------------------------------------------------------- */

static void put_frames(const struct scope *s)
{
    const struct report_model *model = s->model;

    for (size_t i = 0; i < model->functions.count + MARKS; i++) {
        const struct report_function *f =
            i < model->functions.count ? &model->functions.at[i] : NULL;
        const char *file = f ? report_text(model, f->file) : "";

        if (f && !file[0])
            file = report_text(model, model->modules.at[f->module].path);
        fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", s->to);
        report_json_text(s->to,
                         f ? report_text(model, f->name) : marks[i - model->functions.count]);
        if (file[0]) {
            fputs(",\"file\":", s->to);
            report_json_text(s->to, file);
        }
        putc('}', s->to);
    }
}

bool report_speedscope_write(FILE *to, const struct report_model *model)
{
    struct scope s = { .model = model, .to = to };
    const char *command = model->source_count > 0 ? model->sources[0].data->start.command : NULL;
    bool good = make_pieces(&s);

    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
          "\"exporter\":\"sframe-backtrace\",\"activeProfileIndex\":0,\"name\":",
          to);
    report_json_text(to, command ? command : "");
    fputs(",\n\"shared\":{\"frames\":[", to);
    put_frames(&s);
    fputs("]},\n\"profiles\":[", to);
    good = good && put_profiles(&s);
    fputs("]}\n", to);
    free(s.pieces.at);
    free(s.frames.at);
    return good;
}
