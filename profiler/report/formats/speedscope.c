#include "profiler/report/formats/speedscope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/json.h"
#include "profiler/report/formats/pieces.h"
#include "profiler/report/model/parts.h"

/* Frames of marks: they follow the functions' frames. */
static const char *const marks[] = { "[omitted]", "[truncated]", "[no stack]", "[unsampled]",
                                     "[await]" };

enum { MARK_OMITTED, MARK_TRUNCATED, MARK_NO_STACK, MARK_UNSAMPLED, MARK_AWAIT, MARKS };

/* A file of 100 MiB, with all threads together: the page takes no more of them. */
enum { FRAMES_BY_TIME = 1 << 23 };

struct scope {
    const struct report_model *model;
    FILE *to;
    struct report_pieces pieces;
    REPORT_ARRAY(uint32_t) frames; /* of a stack, leaf first */
};

struct profile {
    size_t at, count; /* in `pieces` */
    uint64_t weight;
    bool all; /* of all threads: each is a frame */
};

/* --- Profiles ---------------------------------------------------------------------------------- */

static bool add_frame(struct scope *s, uint32_t frame)
{
    uint32_t *slot = REPORT_NEXT(s->frames);

    if (slot)
        *slot = frame;
    return slot != NULL;
}

static bool take_frames(struct scope *s, const struct report_piece *piece)
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
                            : strcmp(step.mark, marks[MARK_AWAIT]) == 0   ? mark + MARK_AWAIT
                                                                          : mark + MARK_TRUNCATED);
    return good;
}

/* Threads' frames follow the marks'. */
static bool take_stack(struct scope *s, const struct report_piece *piece, bool all)
{
    return take_frames(s, piece) &&
           (!all || add_frame(s, (uint32_t)s->model->functions.count + MARKS + piece->member));
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
        if (!take_stack(s, &s->pieces.all.at[profile->at + i], profile->all))
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
    good = true;
    if (profile->all)
        report_json_text(s->to, "all threads");
    else
        good = put_name(s, s->pieces.all.at[profile->at].member);
    fprintf(s->to, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
            strcmp(unit, "count") == 0 ? "none" : unit, profile->weight);
    good = good && put_samples(s, profile);
    fputs("],\"weights\":[", s->to);
    for (size_t i = 0; i < profile->count; i++)
        fprintf(s->to, "%s%" PRIu64, i > 0 ? "," : "", s->pieces.all.at[profile->at + i].weight);
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
    struct profile *profile = NULL, all = { .count = s->pieces.all.count, .all = true };
    bool good = true;

    for (size_t i = 0; good && i < s->pieces.all.count; i++) {
        if (i == 0 || s->pieces.all.at[i].member != s->pieces.all.at[i - 1].member) {
            profile = REPORT_NEXT(profiles);
            if (profile)
                profile->at = i;
        }
        good = profile != NULL;
        if (good) {
            profile->count++;
            profile->weight += s->pieces.all.at[i].weight;
        }
    }
    if (good && profiles.count > 0)
        qsort(profiles.at, profiles.count, sizeof *profiles.at, compare_profiles);
    for (size_t i = 0; good && i < profiles.count; i++) {
        fputs(i > 0 ? ",\n" : "\n", s->to);
        good = put_profile(s, &profiles.at[i]);
        all.weight += profiles.at[i].weight;
    }
    if (good && profiles.count > 1) {
        fputs(",\n", s->to);
        good = put_profile(s, &all);
    }
    free(profiles.at);
    return good;
}

/* --- The file ---------------------------------------------------------------------------------- */

static bool put_frames(const struct scope *s)
{
    const struct report_model *model = s->model;
    bool good = true;

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
    for (size_t i = 0; good && i <= model->members.count; i++) {
        fputs(",\n{\"name\":", s->to);
        good = put_name(s, (uint32_t)i);
        putc('}', s->to);
    }
    return good;
}

bool report_speedscope_write(FILE *to, const struct report_model *model)
{
    struct scope s = { .model = model, .to = to };
    const char *command = model->source_count > 0 ? model->sources[0].data->start.command : NULL;
    bool good = report_pieces_make(&s.pieces, model, FRAMES_BY_TIME);

    report_pieces_merge(&s.pieces);
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
          "\"exporter\":\"sframe-backtrace\",\"activeProfileIndex\":0,\"name\":",
          to);
    report_json_text(to, command ? command : "");
    fputs(",\n\"shared\":{\"frames\":[", to);
    good = put_frames(&s) && good;
    fputs("]},\n\"profiles\":[", to);
    good = good && put_profiles(&s);
    fputs("]}\n", to);
    report_pieces_free(&s.pieces);
    free(s.frames.at);
    return good;
}
