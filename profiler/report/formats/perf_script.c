#include "profiler/report/formats/perf_script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/frames.h"
#include "profiler/report/formats/pieces.h"
#include "util/foreign.h"

/* Readers end a text at a blank, or at a closing parenthesis. */
static bool put_word(FILE *to, const char *text, const char *instead)
{
    char *word = foreign_copy(text[0] ? text : instead, FOREIGN_NAME);

    if (!word)
        return false;
    for (char *c = word; *c; c++)
        if (*c == ' ' || *c == '(' || *c == ')')
            *c = '_';
    fputs(word, to);
    free(word);
    return true;
}

static void put_frame(FILE *to, const struct report_model *model, const struct report_frame *frame,
                      bool *good)
{
    const char *name = report_frame_name(model, frame->function);
    const struct report_location *l =
        frame->location == REPORT_NONE ? NULL : &model->locations.at[frame->location];
    const struct report_module *m = l ? &model->modules.at[l->module] : NULL;

    fprintf(to, "\t%16" PRIx64 " ", l ? report_location_address(model, l) : UINT64_C(0));
    if (name[0] == '(')
        fputs("::", to);
    foreign_print(to, name);
    fputs(" (", to);
    *good = *good && put_word(to,
                              frame->depth > 0 ? "inlined"
                              : m              ? report_text(model, m->path)
                                               : "",
                              "[unknown]");
    fputs(")\n", to);
}

/*
 * "worker 12/34 1700000000.000001000:    1003009 cpu-clock: ". What threads waited in is of another event, as of
 * `perf record --off-cpu`.
 */
static bool put_head(FILE *to, const struct report_model *model, const struct report_piece *piece,
                     uint64_t origin)
{
    const struct report_member *m = &model->members.at[piece->member];
    const uint64_t time = report_saturated(origin, piece->time);
    const bool good = put_word(to, m->thread->name, "?");
    const bool waits = report_waits_in(model, model->rows.at[piece->row].stack) != NULL;

    fprintf(to, " %" PRIu32 "/%" PRIu32 " %" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " %s: \n",
            m->process->pid, m->thread->tid, time / 1000000000U, time % 1000000000U, piece->weight,
            waits ? "offcpu-time" : "cpu-clock");
    return good;
}

static bool put_piece(FILE *to, const struct report_model *model, const struct report_piece *piece,
                      uint64_t origin, struct report_frames *frames)
{
    bool good = put_head(to, model, piece, origin) &&
                report_frames_take(frames, model, model->rows.at[piece->row].stack);

    for (size_t i = 0; good && i < frames->all.count; i++)
        put_frame(to, model, &frames->all.at[i], &good);
    putc('\n', to);
    return good;
}

/* Readers take a file that begins so for theirs, also without a sample. */
static void put_header(FILE *to, const struct report_model *model)
{
    const char *command = model->source_count > 0 ? model->sources[0].data->start.command : NULL;

    fputs("# ========\n# cmdline : ", to);
    foreign_print(to, command ? command : "");
    fputs("\n# ========\n#\n", to);
}

bool report_perf_script_write(FILE *to, const struct report_model *model)
{
    const uint64_t origin = report_pieces_origin(model);
    struct report_frames frames = { .all = { .count = 0 } };
    struct report_pieces pieces;
    bool good = report_pieces_make(&pieces, model, 0);

    put_header(to, model);
    if (good)
        report_pieces_sort_by_time(&pieces);
    for (size_t i = 0; good && i < pieces.all.count && !pieces.all.at[i].last; i++)
        good = put_piece(to, model, &pieces.all.at[i], origin, &frames);
    report_pieces_free(&pieces);
    free(frames.all.at);
    return good;
}
