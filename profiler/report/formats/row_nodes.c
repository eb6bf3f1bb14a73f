#include "profiler/report/formats/row_nodes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/formats/json.h"

/* Numbers of frames. Behind "(idle)" there is a root for each thread. */
static uint32_t first_thread(const struct report_model *model)
{
    return (uint32_t)model->functions.count + REPORT_FRAME_MARKS;
}

static uint32_t root_frame(const struct report_model *model)
{
    return first_thread(model) + (uint32_t)model->members.count + 1;
}

static uint32_t idle_frame(const struct report_model *model)
{
    return root_frame(model) + 1;
}

bool report_row_nodes_begin(struct report_row_nodes *out, const struct report_model *model)
{
    *out =
        (struct report_row_nodes){ .model = model,
                                   .of_row = calloc(model->rows.count + 1, sizeof *out->of_row) };
    return out->of_row != NULL;
}

bool report_row_nodes_root(struct report_row_nodes *n, uint32_t *out)
{
    return report_call_nodes_find(&n->nodes, REPORT_NONE, root_frame(n->model), out);
}

bool report_row_nodes_thread(struct report_row_nodes *n, uint32_t root, uint32_t member,
                             uint32_t *out)
{
    return report_call_nodes_find(&n->nodes, root, first_thread(n->model) + member, out);
}

bool report_row_nodes_own_root(struct report_row_nodes *n, uint32_t member, uint32_t *out)
{
    return report_call_nodes_find(&n->nodes, REPORT_NONE, idle_frame(n->model) + 1 + member, out);
}

bool report_row_nodes_idle(struct report_row_nodes *n, uint32_t root, uint32_t *out)
{
    return report_call_nodes_find(&n->nodes, root, idle_frame(n->model), out);
}

static bool add_frames(struct report_row_nodes *n, uint32_t *node)
{
    bool good = true;

    for (size_t i = n->frames.all.count; good && i-- > 0;)
        good = report_call_nodes_find(&n->nodes, *node, n->frames.all.at[i].function, node);
    return good;
}

bool report_row_nodes_find(struct report_row_nodes *n, const struct report_piece *piece,
                           uint32_t base, uint32_t *out)
{
    const struct report_model *model = n->model;

    *out = base;
    if (piece->last)
        return report_frames_take_mark(&n->frames, model, REPORT_FRAME_UNSAMPLED) &&
               add_frames(n, out);
    if (n->of_row[piece->row] != 0) {
        *out = n->of_row[piece->row] - 1;
        return true;
    }
    if (!report_frames_take(&n->frames, model, model->rows.at[piece->row].stack) ||
        !add_frames(n, out))
        return false;
    n->of_row[piece->row] = *out + 1;
    return true;
}

/* "worker (1234)" */
static void put_thread(FILE *to, const struct report_model *model, size_t member)
{
    const struct report_thread *thread =
        member < model->members.count ? model->members.at[member].thread : NULL;
    char *name;

    if (!thread || asprintf(&name, "%s (%" PRIu32 ")", thread->name, thread->tid) < 0) {
        report_json_text(to, "[no thread]");
        return;
    }
    report_json_text(to, name);
    free(name);
}

/* What tells two functions of one name apart is where they are from: readers go by scriptId. */
static void put_origin(FILE *to, const struct report_model *model, uint32_t function)
{
    const struct report_function *f = &model->functions.at[function];
    const bool has_file = report_text(model, f->file)[0] != '\0';
    const uint32_t origin = has_file ? f->file : model->modules.at[f->module].path;

    fprintf(to, ",\"scriptId\":\"%" PRIu32 "\",\"url\":", origin + 1);
    report_json_text(to, report_text(model, origin));
}

void report_row_nodes_put(FILE *to, const struct report_row_nodes *n, uint32_t node)
{
    const struct report_model *model = n->model;
    const uint32_t frame = n->nodes.all.at[node].frame, first = first_thread(model);

    fputs("\"callFrame\":{\"functionName\":", to);
    if (frame >= root_frame(model))
        report_json_text(to, frame == idle_frame(model) ? "(idle)" : "(root)");
    else if (frame >= first)
        put_thread(to, model, frame - first);
    else
        report_json_text(to, report_frame_name(model, frame));
    if (frame < model->functions.count)
        put_origin(to, model, frame);
    else
        fputs(",\"scriptId\":\"0\",\"url\":\"\"", to);
    fputs(",\"lineNumber\":-1,\"columnNumber\":-1}", to);
}

void report_row_nodes_free(struct report_row_nodes *n)
{
    report_call_nodes_free(&n->nodes);
    free(n->frames.all.at);
    free(n->of_row);
}
