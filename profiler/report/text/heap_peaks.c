#include "profiler/report/text/heap_peaks.h"

#include <inttypes.h>

#include "profiler/report/text/columns.h"
#include "util/base_name.h"
#include "util/counted.h"
#include "util/foreign.h"

/* Processes whose peaks are named. */
enum { PEAKS_MAX = 4 };

static double since_start(const struct report_data *data, uint64_t time)
{
    return time > data->start.monotonic ? (double)(time - data->start.monotonic) / 1e9 : 0.0;
}

/* A process, and when it had its peak. */
struct peak {
    const struct report_data *data;
    const struct report_process *process;
    const struct sfb_recording_heap_state *state; /* its last one */
    bool estimated;
};

/* Keeps the largest, the first one first. @return how many processes have one */
static size_t find_peaks(const struct report_model *model, struct peak largest[PEAKS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->heap.heaps.count; k++) {
            const struct report_heap *heap = &data->heap.heaps.at[k];
            struct peak p = { data, &data->processes.at[heap->process], NULL, false };

            if (heap->state == REPORT_NONE || !report_choice_has_process(&model->choice, p.process))
                continue;
            p.state = &data->heap.states.at[heap->state];
            if (p.state->peak.blocks == 0)
                continue;
            p.estimated = heap->rate > 0;
            count++;
            for (size_t n = 0; n < PEAKS_MAX; n++)
                if (!largest[n].state || p.state->peak.bytes > largest[n].state->peak.bytes) {
                    const struct peak smaller = largest[n];

                    largest[n] = p;
                    p = smaller;
                    if (!p.state)
                        break;
                }
        }
    }
    return count;
}

void report_peaks_write(FILE *to, const struct report_model *model)
{
    struct peak largest[PEAKS_MAX] = { { .data = NULL } };
    const size_t count = find_peaks(model, largest);

    if (count == 1)
        fprintf(to, ", at %.3f s", since_start(largest[0].data, largest[0].state->peak_time));
    else if (count > 1)
        fprintf(to, ": the sum of %s, the largest are", counted(count, "processes").text);
    fputc('\n', to);
    for (size_t i = 0; count > 1 && i < PEAKS_MAX && largest[i].state; i++) {
        const struct report_amount blocks = report_exactly(largest[i].state->peak.blocks),
                                   bytes = report_exactly(largest[i].state->peak.bytes);

        fprintf(to, "                %s", largest[i].estimated ? "about " : "");
        report_bytes_put(to, &blocks, &bytes);
        fprintf(to, ", at %.3f s: ", since_start(largest[i].data, largest[i].state->peak_time));
        foreign_print(to, sfb_base_name(largest[i].process->program));
        fprintf(to, " (%" PRIu32 ")\n", largest[i].process->pid);
    }
}
