#include "profiler/report/text/heap_memory.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/text/columns.h"
#include "util/base_name.h"
#include "util/foreign.h"

/* Less than this share, or than these bytes, is no fragmentation worth a line. */
enum { FREE_PERCENT = 25, FREE_BYTES = 1 << 20, PROCESSES = 8 };

static double seconds(const struct report_data *data, uint64_t time)
{
    return time > data->start.monotonic ? (double)(time - data->start.monotonic) / 1e9 : 0.0;
}

static uint64_t free_of(const struct sfb_recording_heap_state *s)
{
    return s->allocator_held > s->allocator_used ? s->allocator_held - s->allocator_used : 0;
}

/* --- of an overview ------------------------------------------------------------------------------ */

/* A state, and the recording that it is of. */
struct found {
    const struct report_data *data;
    const struct sfb_recording_heap_state *state; /* NULL: none */
};

static struct found find_worst(const struct report_model *model)
{
    struct found worst = { .state = NULL };

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->heap.states.count; k++) {
            const struct sfb_recording_heap_state *s = &data->heap.states.at[k];

            if (report_choice_has_process(&model->choice, &data->processes.at[s->process]) &&
                free_of(s) > (worst.state ? free_of(worst.state) : 0))
                worst = (struct found){ data, s };
        }
    }
    return worst;
}

void report_memory_line_write(FILE *to, const struct report_model *model)
{
    const struct found worst = find_worst(model);
    struct report_amount used, held;

    if (!worst.state || free_of(worst.state) < FREE_BYTES ||
        report_share(free_of(worst.state), worst.state->allocator_held) < FREE_PERCENT)
        return;
    used = report_exactly(worst.state->allocator_used);
    held = report_exactly(worst.state->allocator_held);
    fputs("  allocator     holds ", to);
    report_amount_put(to, &held, REPORT_BYTES);
    fputs(" for ", to);
    report_amount_put(to, &used, REPORT_BYTES);
    fprintf(to, " in use at %.3f s: %.2f %% are free; --memory shows it over time\n",
            seconds(worst.data, worst.state->time),
            report_share(free_of(worst.state), worst.state->allocator_held));
}

/* --- over time ----------------------------------------------------------------------------------- */

/* A process, and the bounds of its states. */
struct line {
    const struct report_data *data;
    uint32_t process;     /* index */
    uint64_t most;        /* resident */
    uint64_t largest;     /* of the other values */
    uint64_t first, last; /* times */
};

static struct line line_of(const struct report_data *data, uint32_t process)
{
    struct line line = { .data = data, .process = process, .first = UINT64_MAX };

    for (size_t i = 0; i < data->heap.states.count; i++) {
        const struct sfb_recording_heap_state *s = &data->heap.states.at[i];
        const uint64_t held = s->allocator_held > s->live.bytes ? s->allocator_held : s->live.bytes;

        if (s->process != process)
            continue;
        line.most = s->resident > line.most ? s->resident : line.most;
        line.largest = held > line.largest ? held : line.largest;
        line.first = s->time < line.first ? s->time : line.first;
        line.last = s->time;
    }
    return line;
}

static void put_bytes(FILE *to, const struct report_unit *unit, uint64_t bytes, bool known)
{
    if (known)
        fprintf(to, "  %14.*f", unit->decimals, report_in_unit(unit, bytes));
    else
        fprintf(to, "  %14s", "?");
}

static void put_state(FILE *to, const struct line *line, const struct report_unit *unit,
                      const struct sfb_recording_heap_state *s)
{
    const bool known = s->allocator_held > 0;

    fprintf(to, "%12.3f", seconds(line->data, s->time));
    put_bytes(to, unit, s->live.bytes, true);
    put_bytes(to, unit, s->allocator_used, known);
    put_bytes(to, unit, s->allocator_held, known);
    if (known)
        fprintf(to, "  %6.2f", report_share(free_of(s), s->allocator_held));
    else
        fprintf(to, "  %6s", "?");
    put_bytes(to, unit, s->resident, s->resident > 0);
    fputc('\n', to);
}

/* Of equal spans of time each one's last state. */
static void put_states(FILE *to, const struct line *line, const struct report_unit *unit,
                       size_t rows)
{
    const struct report_heap_data *heap = &line->data->heap;
    const uint64_t span = rows > 0 ? (line->last - line->first) / rows + 1 : 1;
    const struct sfb_recording_heap_state *before = NULL;

    for (size_t i = 0; i < heap->states.count; i++) {
        const struct sfb_recording_heap_state *s = &heap->states.at[i];

        if (s->process != line->process)
            continue;
        if (before && (s->time - line->first) / span != (before->time - line->first) / span)
            put_state(to, line, unit, before);
        before = s;
    }
    if (before)
        put_state(to, line, unit, before);
}

static void put_line(FILE *to, const struct line *line, const struct report_style *style,
                     size_t rows)
{
    const uint64_t most = line->most > line->largest ? line->most : line->largest;
    const struct report_unit *unit = report_unit_of(style, REPORT_BYTES, most);
    const struct report_process *process = &line->data->processes.at[line->process];

    report_colour(to, style, REPORT_BOLD);
    fprintf(to, "process %" PRIu32 ", ", process->pid);
    foreign_print(to, sfb_base_name(process->program));
    fprintf(to, ": %s\n", unit->name);
    fputs("    time (s)            live          in use            held  free %        resident\n",
          to);
    report_colour(to, style, REPORT_PLAIN);
    put_states(to, line, unit, rows);
}

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->most != y->most)
        return x->most < y->most ? 1 : -1;
    return x->largest < y->largest ? 1 : x->largest > y->largest ? -1 : 0;
}

bool report_memory_write(FILE *to, const struct report_model *model,
                         const struct report_style *style, size_t rows)
{
    REPORT_ARRAY(struct line) lines = { .count = 0 };

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->heap.heaps.count; k++) {
            const uint32_t process = data->heap.heaps.at[k].process;
            const struct line line = line_of(data, process);
            struct line *kept;

            if (line.first == UINT64_MAX ||
                !report_choice_has_process(&model->choice, &data->processes.at[process]))
                continue;
            kept = REPORT_NEXT(lines);
            if (!kept) {
                free(lines.at);
                return false;
            }
            *kept = line;
        }
    }
    if (lines.count > 0)
        qsort(lines.at, lines.count, sizeof *lines.at, compare);
    for (size_t i = 0; i < lines.count && i < PROCESSES; i++) {
        if (i > 0)
            fputc('\n', to);
        put_line(to, &lines.at[i], style, rows);
    }
    if (lines.count == 0)
        fputs("no memory is known\n", to);
    else if (lines.count > PROCESSES)
        fprintf(to, "\n[%zu more processes]: --process P\n", lines.count - PROCESSES);
    free(lines.at);
    return true;
}
