#include "profiler/report/text/causes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/stack_show.h"
#include "util/counted.h"

/* Places of a cause that are shown. */
enum { PLACES = 3, VALUE = 14, WAITS = 9 };

struct order {
    uint64_t total;
    uint32_t number;
};

/* A part in the order of a table: by cause, the nameless before parts of threads, the heaviest first. */
struct part {
    uint32_t cause;
    bool thread;
    struct order order;
};

/* A table of causes of one kind. */
struct table {
    FILE *to;
    const struct report_model *model;
    const struct report_style *style;
    const struct report_unit *unit;
    const struct report_causes *causes;
    const struct part *parts; /* all of them */
    const char *heading, *empty;
    /* Says whose a part's time is, behind its value: " waited". */
    void (*put_part)(const struct table *table, const struct report_cause_part *part);
};

static int compare(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static void sort(struct order *order, size_t count)
{
    if (count > 1)
        qsort(order, count, sizeof *order, compare);
}

static void put_value(const struct table *t, uint64_t value)
{
    fprintf(t->to, "%*.*f", VALUE, t->unit->decimals, report_in_unit(t->unit, value));
}

static void put_name(const struct table *t, const char *name)
{
    report_name_put(t->to, t->style, name, 0);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    return x->thread != y->thread ? x->thread - y->thread : compare(&x->order, &y->order);
}

/* Causes may be many: each finds its parts without the others'. @return for free(); NULL: no memory */
static struct part *sort_parts(const struct report_causes *causes)
{
    struct part *all = malloc((causes->parts.count + 1) * sizeof *all);

    for (size_t i = 0; all && i < causes->parts.count; i++) {
        const struct report_cause_part *p = &causes->parts.at[i];

        all[i] = (struct part){ p->cause, p->thread != REPORT_NONE, { p->total, (uint32_t)i } };
    }
    if (all && causes->parts.count > 1)
        qsort(all, causes->parts.count, sizeof *all, compare_parts);
    return all;
}

static size_t first_part(const struct table *t, uint32_t cause, bool thread)
{
    size_t low = 0, high = t->causes->parts.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct part *p = &t->parts[middle];

        if (p->cause < cause || (p->cause == cause && p->thread < thread))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The heaviest places of a cause. @param thread  its parts that name a thread */
static void put_parts(const struct table *t, uint32_t cause, bool thread)
{
    const size_t first = first_part(t, cause, thread);
    size_t count = 0;

    for (; first + count < t->causes->parts.count; count++) {
        const struct part *p = &t->parts[first + count];
        const struct report_cause_part *part = &t->causes->parts.at[p->order.number];

        if (p->cause != cause || p->thread != thread)
            break;
        if (count >= PLACES)
            continue;
        fprintf(t->to, "      %.*f %s", t->unit->decimals, report_in_unit(t->unit, part->total),
                t->unit->name);
        t->put_part(t, part);
        if (part->stack != REPORT_NONE)
            report_stack_put(t->to, t->model, t->style, part->stack, "          ");
    }
    if (count > PLACES)
        fprintf(t->to, "      [%s]\n", counted(count - PLACES, "more places").text);
}

static void put_cause(const struct table *t, uint32_t number)
{
    const struct report_cause *c = &t->causes->all.at[number];
    const unsigned before = WAITS + 2 * VALUE + 2;

    fprintf(t->to, "%*" PRIu64, WAITS, c->waits);
    put_value(t, c->total);
    put_value(t, c->longest);
    fputs("  ", t->to);
    report_name_put(t->to, t->style, report_text(t->model, c->name),
                    t->style->width > before ? t->style->width - before : 0);
    fputc('\n', t->to);
    put_parts(t, number, false);
    put_parts(t, number, true);
}

static void put_head(const struct table *t)
{
    char total[VALUE + 1], longest[VALUE + 1];

    snprintf(total, sizeof total, "total (%s)", t->unit->name);
    snprintf(longest, sizeof longest, "longest (%s)", t->unit->name);
    fprintf(t->to, "%*s%*s%*s  %s\n", WAITS, "waits", VALUE, total, VALUE, longest, t->heading);
}

/*
 * @param missing  ns that are in no cause
 * @param what     they are of
 * @return false: no memory
 */
static bool put_table(struct table *t, uint64_t rows, uint64_t missing, const char *what)
{
    const size_t count = t->causes->all.count;
    struct order *order = malloc((count + 1) * sizeof *order);
    struct part *parts = sort_parts(t->causes);
    uint64_t most = 0;

    if (!order || !parts) {
        free(order);
        free(parts);
        return false;
    }
    t->parts = parts;
    for (size_t i = 0; i < count; i++) {
        order[i] = (struct order){ t->causes->all.at[i].total, (uint32_t)i };
        most = order[i].total > most ? order[i].total : most;
    }
    sort(order, count);
    t->unit = report_unit_of(t->style, REPORT_TIME, most > 0 ? most : missing);
    put_head(t);
    for (size_t i = 0; i < count && (rows == 0 || i < rows); i++)
        put_cause(t, order[i].number);
    if (rows > 0 && count > rows)
        fprintf(t->to, "[%zu more]\n", count - (size_t)rows);
    if (count == 0)
        fprintf(t->to, "%s\n", t->empty);
    if (missing > 0)
        fprintf(t->to, "not in it: %.*f %s of %s\n", t->unit->decimals,
                report_in_unit(t->unit, missing), t->unit->name, what);
    free(order);
    free(parts);
    return true;
}

/* --- Locks ------------------------------------------------------------------------------------- */

static void put_lock_part(const struct table *t, const struct report_cause_part *part)
{
    const bool held = part->thread != REPORT_NONE;

    fputs(held ? " had by " : " waited", t->to);
    if (held)
        put_name(t, report_text(t->model, part->thread));
    if (part->stack != REPORT_NONE)
        fputs(" in\n", t->to);
    else
        fputs(held ? ", which was not looked at\n" : ", not known where\n", t->to);
}

bool report_locks_write(FILE *to, const struct report_model *model,
                        const struct report_style *style, uint64_t rows)
{
    struct table t = { .to = to,
                       .model = model,
                       .style = style,
                       .causes = &model->locks,
                       .heading = "lock",
                       .empty = "no thread was seen to wait for a lock",
                       .put_part = put_lock_part };

    return put_table(&t, rows, model->unplaced, "short waits, which no look has seen");
}

/* --- Wakers ------------------------------------------------------------------------------------ */

static void put_waker_part(const struct table *t, const struct report_cause_part *part)
{
    if (part->thread == REPORT_NONE) {
        fputs(" ended by it", t->to);
    } else {
        fputs(" of ", t->to);
        put_name(t, report_text(t->model, part->thread));
        fputs(", ", t->to);
        put_name(t, report_waits_in(t->model, part->wait));
        fputs(part->stack == REPORT_NONE ? "" : ",", t->to);
    }
    fputs(part->stack == REPORT_NONE ? ", not known where\n" : " in\n", t->to);
}

bool report_wakers_write(FILE *to, const struct report_model *model,
                         const struct report_style *style, uint64_t rows)
{
    struct table t = { .to = to,
                       .model = model,
                       .style = style,
                       .causes = &model->wakers,
                       .heading = "waker",
                       .empty = "no wait in it has a known waker",
                       .put_part = put_waker_part };

    if (model->has_wakers)
        return put_table(&t, rows, model->unended, "waits whose end is not known");
    fputs("no waker is recorded: `sfb record --wall` needs root for that, or CAP_PERFMON and "
          "CAP_SYS_ADMIN\n",
          to);
    return true;
}
