#include "profiler/report/text/heap_summary.h"

#include <inttypes.h>
#include <string.h>

#include "profiler/report/model/parts.h"
#include "profiler/report/text/columns.h"
#include "profiler/report/text/heap_memory.h"
#include "profiler/report/text/heap_peaks.h"
#include "profiler/report/text/start.h"
#include "profiler/report/text/tally.h"
#include "util/counted.h"

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* A line of a pair of values, "  peak        ". */
static void put_pair(FILE *to, const struct report_model *model, const char *name, size_t type)
{
    const struct report_amount blocks = report_total(model, type),
                               bytes = report_total(model, type + 1);

    fprintf(to, "  %-12s  ", name);
    report_bytes_put(to, &blocks, &bytes);
}

/* --- What lives -------------------------------------------------------------------------------- */

/* Whether all processes that are in it have ended. */
static bool have_ended(const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->heap.heaps.count; k++) {
            const struct report_process *p = &data->processes.at[data->heap.heaps.at[k].process];

            if (!p->ended || p->end == SFB_PROCESS_LEFT)
                return false;
        }
    }
    return true;
}

static void write_growth(FILE *to, const struct report_model *model)
{
    const struct report_amount blocks = report_exactly(model->shrunk[0]),
                               bytes = report_exactly(model->shrunk[1]);

    put_pair(to, model, "grown by", REPORT_INUSE_OBJECTS);
    fputc('\n', to);
    if (model->shrunk[0] > 0 || model->shrunk[1] > 0) {
        fputs("  shrunk by     ", to);
        report_bytes_put(to, &blocks, &bytes);
        fputs(", in other stacks\n", to);
    }
}

static void write_nearest(FILE *to, const struct report_model *model)
{
    if (model->nearest > 0)
        fprintf(to, "  the nearest snapshot is that of %.3f s\n", seconds(model->nearest));
}

/* Before an estimate whose error is unknown. */
static const char *about(const struct report_model *model)
{
    return model->estimated ? "about " : "";
}

/* Slack of what lives, of a whole run. */
static void write_slack(FILE *to, const struct report_model *model)
{
    struct report_amount live = report_exactly(0);

    for (size_t i = 0; i < model->sites.count; i++)
        if (model->sites.at[i].totals)
            live.value = report_saturated(live.value, model->sites.at[i].totals->live_slack_bytes);
    if (live.value == 0)
        return;
    fprintf(to, ", and %s", about(model));
    report_amount_put(to, &live, REPORT_BYTES);
    fputs(" of slack", to);
}

static void write_live(FILE *to, const struct report_model *model)
{
    const struct report_choice *c = &model->choice;

    if (c->at_instant) {
        put_pair(to, model, "live then", REPORT_INUSE_OBJECTS);
    } else if (c->tail > 0 || c->tail_percent > 0.0) {
        put_pair(to, model, "live", REPORT_INUSE_OBJECTS);
        if (c->tail_percent > 0.0)
            fprintf(to, " at most were there before the last %g %% of the run", c->tail_percent);
        else
            fprintf(to, " at most were there before the last %g s of the run", seconds(c->tail));
    } else {
        put_pair(to, model, have_ended(model) ? "live at exit" : "live at end",
                 REPORT_INUSE_OBJECTS);
        write_slack(to, model);
    }
    fputc('\n', to);
}

/* --- Memory ------------------------------------------------------------------------------------ */

/* The largest resident size of a process that was seen: the kernel's figure, ten times a second. */
static void write_resident(FILE *to, const struct report_model *model)
{
    struct report_amount most = report_exactly(0);

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; k < data->heap.states.count; k++) {
            const struct sfb_recording_heap_state *state = &data->heap.states.at[k];

            if (state->resident > most.value &&
                report_choice_has_process(&model->choice, &data->processes.at[state->process]))
                most.value = state->resident;
        }
    }
    if (most.value == 0)
        return;
    fputs("  resident      ", to);
    report_amount_put(to, &most, REPORT_BYTES);
    fputs(" at most\n", to);
}

/* --- Blocks ------------------------------------------------------------------------------------ */

struct sums {
    uint64_t reallocated, longest, elsewhere;
};

static struct sums sums_of(const struct report_model *model)
{
    struct sums s = { .longest = 0 };

    for (size_t i = 0; i < model->sites.count; i++) {
        const struct sfb_recording_heap_totals *t = model->sites.at[i].totals;

        if (!t)
            continue;
        s.reallocated = report_saturated(s.reallocated, t->reallocated);
        s.elsewhere = report_saturated(s.elsewhere, t->freed_elsewhere);
        s.longest = t->longest_chain > s.longest ? t->longest_chain : s.longest;
    }
    return s;
}

static void write_share(FILE *to, uint64_t part, uint64_t all)
{
    fprintf(to, " (%.2f %%)", report_share(part, all));
}

/* Of what was cut off it may not be, and of samples it is not. */
static bool is_temporary_known(const struct report_model *model)
{
    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_heap_data *heap = &model->sources[i].data->heap;

        for (size_t k = 0; k < heap->heaps.count; k++)
            if (heap->heaps.at[k].totals > 0 && heap->heaps.at[k].rate == 0)
                return true;
    }
    return false;
}

static void write_blocks(FILE *to, const struct report_model *model)
{
    const uint64_t all = model->totals[REPORT_ALLOC_OBJECTS];
    const struct sums s = sums_of(model);

    if (is_temporary_known(model)) {
        put_pair(to, model, "temporary", REPORT_TEMPORARY_OBJECTS);
        write_share(to, model->totals[REPORT_TEMPORARY_OBJECTS], all);
        fputc('\n', to);
    }
    if (s.reallocated > 0) {
        fprintf(to, "  by realloc    %s%s", about(model), counted(s.reallocated, "blocks").text);
        write_share(to, s.reallocated, all);
        fprintf(to, ", %s at most for one\n", counted(s.longest, "times").text);
    }
    if (s.elsewhere > 0) {
        fprintf(to, "  freed by another thread  %s%s", about(model),
                counted(s.elsewhere, "blocks").text);
        write_share(to, s.elsewhere, all);
        fputc('\n', to);
    }
}

/* --- All of it --------------------------------------------------------------------------------- */

static void write_change(FILE *to, const struct report_model *model)
{
    const struct report_amount old = report_group_all(model, 0), new = report_group_all(model, 1);
    const enum report_quantity quantity = report_quantity_of(model);

    fprintf(to, "  %s ", report_value_name(model));
    report_amount_put(to, &new, quantity);
    fputs(", was ", to);
    report_amount_put(to, &old, quantity);
    if (old.value > 0)
        fprintf(to, ": %+.2f %%",
                100.0 * ((double)new.value - (double)old.value) / (double)old.value);
    fputc(';', to);
    report_members_write(to, model);
    fprintf(to, ", %s\n", counted(model->stacks.count, "stacks").text);
}

static void write_values(FILE *to, const struct report_model *model)
{
    const struct report_choice *c = &model->choice;
    const bool timed = report_choice_is_timed(c);

    if (model->live_only) {
        put_pair(to, model, "live", REPORT_INUSE_OBJECTS);
        report_members_write(to, model);
        fputc('\n', to);
        return;
    }
    put_pair(to, model, "allocated", REPORT_ALLOC_OBJECTS);
    report_members_write(to, model);
    fprintf(to, ", %s\n", counted(model->stacks.count, "stacks").text);
    if (timed && !c->at_instant)
        write_growth(to, model);
    else
        write_live(to, model);
    write_nearest(to, model);
    if (!timed) {
        put_pair(to, model, "peak", REPORT_PEAK_OBJECTS);
        report_peaks_write(to, model);
        write_blocks(to, model);
    }
    report_memory_line_write(to, model);
    write_resident(to, model);
}

void report_heap_summary_write(FILE *to, const struct report_model *model)
{
    report_starts_write(to, model);
    report_choice_write(to, &model->choice);
    if (report_model_compares(model))
        write_change(to, model);
    else
        write_values(to, model);
    if (model->estimated)
        fputs("  sampled: values are estimates, \u00b1 is one standard error\n", to);
}
