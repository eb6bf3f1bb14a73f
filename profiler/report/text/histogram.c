#include "profiler/report/text/histogram.h"

#include <inttypes.h>

#include "profiler/report/text/columns.h"

enum { BAR = 30, NAME = 22 };

struct histogram {
    uint64_t classes[SFB_HEAP_CLASSES];
    uint64_t all;
    size_t first, end; /* that are not empty */
};

static void add(struct histogram *h, const uint64_t classes[SFB_HEAP_CLASSES])
{
    for (size_t i = 0; i < SFB_HEAP_CLASSES; i++) {
        h->classes[i] = report_saturated(h->classes[i], classes[i]);
        h->all = report_saturated(h->all, classes[i]);
    }
}

static struct histogram collect(const struct report_model *model, enum report_histogram which)
{
    struct histogram h = { .first = SFB_HEAP_CLASSES };

    for (size_t i = 0; i < model->sites.count; i++) {
        const struct sfb_recording_heap_totals *t = model->sites.at[i].totals;

        if (t)
            add(&h, which == REPORT_SIZES ? t->sizes : t->lifetimes);
    }
    for (size_t i = 0; i < SFB_HEAP_CLASSES; i++)
        if (h.classes[i] > 0) {
            h.first = i < h.first ? i : h.first;
            h.end = i + 1;
        }
    return h;
}

/* "1 KiB", "512", of sizes; "1.05 ms" of lifetimes, which are of powers of two of ns. */
static void put_bound(char *out, size_t size, enum report_histogram which, uint64_t value)
{
    static const struct report_style plain = { .width = 0 };
    const enum report_quantity quantity = which == REPORT_SIZES ? REPORT_BYTES : REPORT_TIME;
    const struct report_unit *unit = report_unit_of(&plain, quantity, value);
    const double shown = report_in_unit(unit, value);

    snprintf(out, size, "%.*f %s", which == REPORT_SIZES || shown >= 100.0 ? 0 : 2, shown,
             which == REPORT_SIZES && unit->decimals == 0 ? "B" : unit->name);
}

/* Classes [from, to). */
static void put_name(FILE *to, enum report_histogram which, size_t from, size_t end)
{
    char text[64], bound[24];

    if (end == 0 || end >= SFB_HEAP_CLASSES) {
        put_bound(bound, sizeof bound, which, from == 0 ? 0 : UINT64_C(1) << (from - 1));
        snprintf(text, sizeof text, "from %s on", bound);
    } else if (end == 1) {
        snprintf(text, sizeof text, "0");
    } else {
        put_bound(bound, sizeof bound, which, UINT64_C(1) << (end - 1));
        snprintf(text, sizeof text, "below %s", bound);
    }
    fprintf(to, "  %-*s", NAME, text);
}

static void put_row(FILE *to, const struct report_style *style, uint64_t count, uint64_t all)
{
    const double share = report_share(count, all);

    fprintf(to, "%14" PRIu64 "  %8.2f", count, share);
    if (style->bars) {
        fputs("  ", to);
        report_bar(to, style, share / 100.0, share / 100.0, BAR);
    }
    fputc('\n', to);
}

bool report_histogram_has(const struct report_model *model, enum report_histogram which)
{
    const struct histogram h = collect(model, which);

    return h.all > 0;
}

void report_histogram_write(FILE *to, const struct report_model *model,
                            const struct report_style *style, enum report_histogram which,
                            size_t rows)
{
    const struct histogram h = collect(model, which);
    const size_t count = h.end > h.first ? h.end - h.first : 0;
    const size_t step = rows > 0 && count > rows ? (count + rows - 1) / rows : 1;
    const bool lifetimes = which == REPORT_LIFETIMES;

    report_colour(to, style, REPORT_BOLD);
    fprintf(to, "%-*s%14s  %8s", NAME + 2, lifetimes ? "lifetime" : "size",
            lifetimes ? "blocks freed" : "blocks", "%");
    report_colour(to, style, REPORT_PLAIN);
    fputc('\n', to);
    if (count == 0)
        fputs(lifetimes ? "  no block is known to be freed\n" : "  no size is known\n", to);
    for (size_t i = h.first; i < h.end; i += step) {
        uint64_t sum = 0;

        for (size_t k = i; k < i + step && k < h.end; k++)
            sum = report_saturated(sum, h.classes[k]);
        put_name(to, which, i, i + step < h.end ? i + step : h.end);
        put_row(to, style, sum, h.all);
    }
}
