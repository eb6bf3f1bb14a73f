#include "profiler/report/text/threads.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/tally.h"
#include "util/base_name.h"

/* Width of a terminal from which there is room for samples; columns of blocks, and of a thread's number. */
enum { WIDE = 90, BLOCKS = 14, THREAD = 6, NAME_MIN = 8 };

struct entry {
    const struct report_thread *thread; /* NULL: what is no thread's */
    const struct report_process *process;
    struct report_amount own;
    uint64_t unsampled, samples; /* of a heap, blocks that it allocated */
    size_t order;                /* as it came */
};

struct entries {
    REPORT_ARRAY(struct entry) all;
};

/* @return false: no memory */
static bool add(struct entries *entries, const struct report_thread *thread,
                const struct report_process *process, uint64_t unsampled)
{
    struct entry *entry = REPORT_NEXT(entries->all);

    if (!entry)
        return false;
    *entry = (struct entry){ thread,    process, report_exactly(unsampled),
                             unsampled, 0,       entries->all.count };
    return true;
}

static bool collect(struct entries *out, const struct report_model *model)
{
    bool good = true;

    for (size_t i = 0; good && i < model->members.count; i++) {
        const struct report_member *m = &model->members.at[i];

        good = add(out, m->thread, m->process, report_member_unsampled(model, m));
    }
    for (size_t i = 0; good && out->all.at && i < model->rows.count; i++) {
        const struct report_row *row = &model->rows.at[i];
        const struct report_amount own = report_amount_of(model, row);
        struct entry *entry = &out->all.at[row->member];

        report_amount_add(&entry->own, &own);
        entry->samples = report_saturated(entry->samples, row->values[0]);
    }
    for (size_t i = 0; good && i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;

        for (size_t k = 0; good && k < data->processes.count; k++) {
            const uint64_t own = report_process_unsampled(model, &data->processes.at[k]);

            good = own == 0 || add(out, NULL, &data->processes.at[k], own);
        }
    }
    return good;
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->own.value != y->own.value)
        return x->own.value < y->own.value ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

/* "1234 worker (program 1230)" */
static void put_name(FILE *to, const struct report_columns *columns, unsigned before,
                     const struct entry *e)
{
    const char *program = sfb_base_name(e->process->program);
    const unsigned all = report_columns_room(columns), used = before + THREAD + 2;
    const unsigned room = all == 0 ? 0 : all > used + NAME_MIN ? all - used : NAME_MIN;
    char tid[16] = "", *where;

    if (e->thread)
        snprintf(tid, sizeof tid, "%" PRIu32, e->thread->tid);
    fprintf(to, "%*s  ", THREAD, tid);
    if (asprintf(&where, "%s %" PRIu32, program, e->process->pid) < 0)
        where = NULL;
    report_name_put_in(to, columns->style, e->thread ? e->thread->name : "[no thread]",
                       where ? where : "", room);
    free(where);
    fputc('\n', to);
}

/* How wide what stands before the thread's number is. */
static unsigned put_details(FILE *to, const struct report_columns *columns, const struct entry *e)
{
    if (columns->unit->quantity == REPORT_TIME)
        return (unsigned)fprintf(to, "%9" PRIu64 "  %8.2f  ", e->samples,
                                 report_share(e->unsampled, e->own.value));
    return (unsigned)fprintf(to, "%*" PRIu64 "  ", BLOCKS, e->samples);
}

static void put(FILE *to, const struct report_columns *columns, bool details, const struct entry *e)
{
    static const struct report_amount none = { .value = 0 };

    report_columns_put(to, columns, &none, &e->own);
    put_name(to, columns, details ? put_details(to, columns, e) : 0, e);
}

static void write_table(FILE *to, const struct report_model *model,
                        const struct report_style *style, const struct entries *entries,
                        uint64_t all, double percent)
{
    const bool details = style->width == 0 || style->width >= WIDE;
    struct report_columns columns;
    size_t others = 0;
    struct report_amount sum = report_exactly(0);

    report_columns_make(&columns, style, model, all, false);
    report_columns_head(to, &columns,
                        !details      ? "thread  name (process)"
                        : model->heap ? "  blocks alloc  thread  name (process)"
                                      : "  samples  unsampl%  thread  name (process)");
    for (size_t i = 0; i < entries->all.count; i++) {
        const struct entry *e = &entries->all.at[i];

        if (e->own.value == 0 || report_share(e->own.value, all) < percent) {
            others += e->own.value > 0;
            report_amount_add(&sum, &e->own);
            continue;
        }
        put(to, &columns, details, e);
    }
    if (others > 0) {
        report_columns_put_sum(to, &columns, &sum);
        fprintf(to, "[%zu more]\n", others);
    }
}

bool report_threads_write(FILE *to, const struct report_model *model,
                          const struct report_style *style, double percent)
{
    struct entries entries = { .all = { .count = 0 } };
    const bool good = collect(&entries, model);

    if (good) {
        if (entries.all.count > 1)
            qsort(entries.all.at, entries.all.count, sizeof *entries.all.at, compare);
        write_table(to, model, style, &entries, report_all(model).value, percent);
    }
    free(entries.all.at);
    return good;
}
