#include "profiler/report/text/locks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/text/name.h"
#include "profiler/report/text/stack_show.h"

/* Places of a lock that are shown. */
enum { PLACES = 3, VALUE = 14, WAITS = 9 };

struct order {
    uint64_t total;
    uint32_t number;
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

static void put_value(FILE *to, const struct report_unit *unit, uint64_t value)
{
    fprintf(to, "%*.*f", VALUE, unit->decimals, report_in_unit(unit, value));
}

static void put_part(FILE *to, const struct report_model *model, const struct report_style *style,
                     const struct report_unit *unit, const struct report_lock_part *part)
{
    fputs("      ", to);
    fprintf(to, "%.*f %s ", unit->decimals, report_in_unit(unit, part->total), unit->name);
    if (part->holder == REPORT_NONE) {
        fputs("waited", to);
    } else {
        fputs("had by ", to);
        report_name_put(to, style, report_text(model, part->holder), 0);
    }
    if (part->stack == REPORT_NONE) {
        fputs(part->holder == REPORT_NONE ? ", not known where\n" : ", which was not looked at\n",
              to);
        return;
    }
    fputs(" in\n", to);
    report_stack_put(to, model, style, part->stack, "          ");
}

/* The heaviest places where threads waited for a lock, or had it. @return false: no memory */
static bool put_parts(FILE *to, const struct report_model *model, const struct report_style *style,
                      const struct report_unit *unit, uint32_t lock, bool holders)
{
    struct order *order = malloc((model->lock_parts.count + 1) * sizeof *order);
    size_t count = 0;

    if (!order)
        return false;
    for (size_t i = 0; i < model->lock_parts.count; i++) {
        const struct report_lock_part *p = &model->lock_parts.at[i];

        if (p->lock == lock && (p->holder != REPORT_NONE) == holders)
            order[count++] = (struct order){ p->total, (uint32_t)i };
    }
    sort(order, count);
    for (size_t i = 0; i < count && i < PLACES; i++)
        put_part(to, model, style, unit, &model->lock_parts.at[order[i].number]);
    if (count > PLACES)
        fprintf(to, "      [%zu more places]\n", count - PLACES);
    free(order);
    return true;
}

static bool put_lock(FILE *to, const struct report_model *model, const struct report_style *style,
                     const struct report_unit *unit, uint32_t number)
{
    const struct report_lock *l = &model->locks.at[number];
    const unsigned before = WAITS + 2 * VALUE + 2;

    fprintf(to, "%*" PRIu64, WAITS, l->waits);
    put_value(to, unit, l->total);
    put_value(to, unit, l->longest);
    fputs("  ", to);
    report_name_put(to, style, report_text(model, l->name),
                    style->width > before ? style->width - before : 0);
    fputc('\n', to);
    return put_parts(to, model, style, unit, number, false) &&
           put_parts(to, model, style, unit, number, true);
}

static void put_unplaced(FILE *to, const struct report_model *model, const struct report_unit *unit)
{
    if (model->unplaced > 0)
        fprintf(to, "not in it: %.*f %s of short waits, which no look has seen\n", unit->decimals,
                report_in_unit(unit, model->unplaced), unit->name);
}

static void put_head(FILE *to, const struct report_unit *unit)
{
    char total[VALUE + 1], longest[VALUE + 1];

    snprintf(total, sizeof total, "total (%s)", unit->name);
    snprintf(longest, sizeof longest, "longest (%s)", unit->name);
    fprintf(to, "%*s%*s%*s  lock\n", WAITS, "waits", VALUE, total, VALUE, longest);
}

bool report_locks_write(FILE *to, const struct report_model *model,
                        const struct report_style *style, uint64_t rows)
{
    struct order *order = malloc((model->locks.count + 1) * sizeof *order);
    const struct report_unit *unit;
    uint64_t most = 0;
    bool good = true;

    if (!order)
        return false;
    for (size_t i = 0; i < model->locks.count; i++) {
        order[i] = (struct order){ model->locks.at[i].total, (uint32_t)i };
        most = order[i].total > most ? order[i].total : most;
    }
    sort(order, model->locks.count);
    unit = report_unit_of(style, REPORT_TIME, most > 0 ? most : model->unplaced);
    put_head(to, unit);
    for (size_t i = 0; good && i < model->locks.count && (rows == 0 || i < rows); i++)
        good = put_lock(to, model, style, unit, order[i].number);
    if (rows > 0 && model->locks.count > rows)
        fprintf(to, "[%zu more]\n", model->locks.count - (size_t)rows);
    if (model->locks.count == 0)
        fputs("no thread was seen to wait for a lock\n", to);
    put_unplaced(to, model, unit);
    free(order);
    return good;
}
