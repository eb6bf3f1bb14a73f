#include "profiler/report/formats/memory_rows.h"

#include <inttypes.h>

#include "profiler/report/formats/json.h"

const char *report_memory_rows_refuses(const struct report_model *model)
{
    return model->heap ? NULL : "this is of CPU time: it is for heaps (sfb record --heap)";
}

static void put_known(FILE *to, const char *key, uint64_t value, bool known)
{
    if (known)
        fprintf(to, ",\"%s\":%" PRIu64, key, value);
    else
        fprintf(to, ",\"%s\":null", key);
}

static void put_state(FILE *to, const struct report_data *data,
                      const struct sfb_recording_heap_state *s)
{
    const struct report_process *process = &data->processes.at[s->process];
    const uint64_t start = data->start.monotonic;

    fprintf(to, "{\"process\":%" PRIu32 ",\"program\":", process->pid);
    report_json_text(to, process->program);
    fprintf(to, ",\"time_ns\":%" PRIu64 ",\"live_blocks\":%" PRIu64 ",\"live_bytes\":%" PRIu64,
            s->time > start ? s->time - start : 0, s->live.blocks, s->live.bytes);
    put_known(to, "used_bytes", s->allocator_used, s->allocator_held > 0);
    put_known(to, "held_bytes", s->allocator_held, s->allocator_held > 0);
    put_known(to, "resident_bytes", s->resident, s->resident > 0);
    fputs("}\n", to);
}

bool report_memory_rows_write(FILE *to, const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->heap.states.count; k++)
            if (report_choice_has_process(&model->choice,
                                          &data->processes.at[data->heap.states.at[k].process]))
                put_state(to, data, &data->heap.states.at[k]);
    }
    return true;
}
