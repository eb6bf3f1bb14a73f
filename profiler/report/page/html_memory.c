#include "profiler/report/page/html_memory.h"

#include <stdlib.h>

#include "profiler/report/page/html_list.h"

static const char *const names[] = { "used", "held", "resident" };

static uint64_t since_start(const struct report_data *data, uint64_t time)
{
    return time > data->start.monotonic ? time - data->start.monotonic : 0;
}

static uint32_t step_of(const struct html_memory *memory, uint64_t time)
{
    const uint64_t step = time / memory->step_ns;

    return step < memory->count ? (uint32_t)step : memory->count - 1;
}

static uint64_t value_of(const struct sfb_recording_heap_state *s, int kind)
{
    if (kind == HTML_MEMORY_RESIDENT)
        return s->resident > 0 ? s->resident : HTML_MEMORY_UNKNOWN;
    if (s->allocator_held == 0)
        return HTML_MEMORY_UNKNOWN;
    return kind == HTML_MEMORY_USED ? s->allocator_used : s->allocator_held;
}

static uint64_t sum_of(uint64_t sum, uint64_t value)
{
    return sum == HTML_MEMORY_UNKNOWN || value == HTML_MEMORY_UNKNOWN
               ? HTML_MEMORY_UNKNOWN
               : report_saturated(sum, value < INT64_MAX ? value : INT64_MAX);
}

static void add(struct html_memory *memory, uint32_t from, uint32_t to,
                const uint64_t values[HTML_MEMORY_KINDS])
{
    for (int kind = 0; kind < HTML_MEMORY_KINDS; kind++)
        for (uint32_t i = from; i < to; i++)
            memory->steps[kind][i] = sum_of(memory->steps[kind][i], values[kind]);
}

/* A process has no memory before its beginning and behind its end. Between two states it has what the first one says. */
static void add_process(struct html_memory *memory, const struct report_data *data, uint32_t number)
{
    const struct report_process *process = &data->processes.at[number];
    const uint32_t end =
        process->ended ? step_of(memory, since_start(data, process->end_time)) + 1 : memory->count;
    uint64_t values[HTML_MEMORY_KINDS] = { HTML_MEMORY_UNKNOWN, HTML_MEMORY_UNKNOWN,
                                           HTML_MEMORY_UNKNOWN };
    uint32_t at = step_of(memory, since_start(data, process->time));

    for (size_t i = 0; i < data->heap.states.count; i++) {
        const struct sfb_recording_heap_state *s = &data->heap.states.at[i];
        const uint32_t step = step_of(memory, since_start(data, s->time));

        if (s->process != number)
            continue;
        if (step > at) {
            add(memory, at, step, values);
            at = step;
        }
        for (int kind = 0; kind < HTML_MEMORY_KINDS; kind++)
            values[kind] = value_of(s, kind);
    }
    add(memory, at, end > at ? end : at + 1, values);
}

static bool is_known(const uint64_t *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (steps[i] != HTML_MEMORY_UNKNOWN && steps[i] > 0)
            return true;
    return false;
}

bool html_memory_make(struct html_memory *out, const struct report_model *model)
{
    for (int kind = 0; kind < HTML_MEMORY_KINDS; kind++) {
        out->steps[kind] = calloc(out->count, sizeof *out->steps[kind]);
        if (!out->steps[kind])
            return false;
    }
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->heap.heaps.count; k++) {
            const struct report_heap *heap = &data->heap.heaps.at[k];

            if (heap->state != REPORT_NONE &&
                report_choice_has_process(&model->choice, &data->processes.at[heap->process]))
                add_process(out, data, heap->process);
        }
    }
    for (int kind = 0; kind < HTML_MEMORY_KINDS; kind++)
        if (!is_known(out->steps[kind], out->count)) {
            free(out->steps[kind]);
            out->steps[kind] = NULL;
        }
    return true;
}

static void put_steps(FILE *to, const struct html_memory *memory, int kind)
{
    html_list_begin(to, names[kind]);
    for (uint32_t i = 0; i < memory->count; i++) {
        if (memory->steps[kind][i] == HTML_MEMORY_UNKNOWN) {
            html_list_next(to, i);
            fputs("-1", to);
        } else {
            html_list_number(to, i, memory->steps[kind][i]);
        }
    }
    html_list_end(to, "");
}

void html_memory_write(FILE *to, const struct html_memory *memory)
{
    size_t lists = 0;

    for (int kind = 0; kind < HTML_MEMORY_KINDS; kind++)
        if (memory->steps[kind]) {
            fputs(lists++ == 0 ? ",\"memory\":{" : ",", to);
            put_steps(to, memory, kind);
        }
    if (lists > 0)
        fputc('}', to);
}

void html_memory_free(struct html_memory *memory)
{
    for (int kind = 0; kind < HTML_MEMORY_KINDS; kind++)
        free(memory->steps[kind]);
    *memory = (struct html_memory){ .count = 0 };
}
