#include "toolchain/check/cause_hunt.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * Fewer errors and warnings need no cause; as many trials end the search: each of them checks the whole
 * section.
 */
enum { FINDINGS_LEAST = 8, TRIALS_MAX = 48 };

/* No other repair is tried if one of so many findings stays. */
enum { ENOUGH = 100 };

/* How much a repair must explain. */
struct demand {
    uint64_t share; /* one of so many findings may stay */
    uint64_t least; /* findings that are removed */
    uint64_t part;  /* one of so many is removed; 0: not asked */
};

static const struct demand of_all = { 10, FINDINGS_LEAST, 0 }, of_part = { 2, FINDINGS_LEAST, 0 },
                           of_header = { 10, 2, 0 }, of_functions = { 0, 1, 0 },
                           of_few = { 2, 1, 0 }, of_code = { 0, 3, 5 };

static uint64_t grave(const struct findings *f)
{
    return f->by_severity[CHECK_ERROR] + f->by_severity[CHECK_WARNING];
}

uint64_t hunt_count(const struct hunt *h, enum check_code code)
{
    return h->found.of_code[check_code_index(code)];
}

uint32_t hunt_functions(const struct hunt *h)
{
    uint32_t n = 0;

    for (size_t i = 0; i < h->as_it_stands->part_count; i++)
        n += h->as_it_stands->parts[i].fde_count;
    return n;
}

struct check_function hunt_function(const struct hunt *h, uint32_t index)
{
    const struct check *c = h->as_it_stands;
    size_t i = 0;

    while (i + 1 < c->part_count && index - c->parts[i].first >= c->parts[i].fde_count)
        i++;
    return (struct check_function){ &c->parts[i], &c->parts[i].entries[index - c->parts[i].first] };
}

__attribute__((format(printf, 5, 0))) static void take(struct hunt *h, struct hunt_name name,
                                                       struct sframe_fix fix, uint64_t left,
                                                       const char *format, va_list arguments)
{
    h->left = left;
    h->out->code = name.code;
    h->out->tool = name.tool;
    h->out->reading = (struct check_reading){ .fix = fix };
    vsnprintf(h->out->how, sizeof h->out->how, format, arguments);
}

__attribute__((format(printf, 5, 0))) static void try(struct hunt *h, struct hunt_name name,
                                                      struct sframe_fix fix, struct demand demand,
                                                      const char *format, va_list arguments)
{
    const struct check_reading reading = { .fix = fix };
    struct findings f = { .limit = 0 };
    uint64_t left;

    if (h->trials++ >= TRIALS_MAX || h->all < demand.least || h->left * ENOUGH <= h->all ||
        !findings_init(&f, 0, &(struct findings_ears){ .take = NULL }))
        return;
    left =
        demand.share > 0 && h->all / demand.share < h->left ? h->all / demand.share + 1 : h->left;
    f.stop_at = left < h->all - demand.least + 1 ? left : h->all - demand.least + 1;
    check_count(&f, h->c, &reading);
    left = grave(&f);
    findings_free(&f);
    if (left < h->left && left * demand.share <= h->all && h->all - left >= demand.least &&
        (demand.part == 0 || (h->all - left) * demand.part >= h->all))
        take(h, name, fix, left, format, arguments);
}

void hunt_try(struct hunt *h, struct hunt_name name, struct sframe_fix fix, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    try(h, name, fix, of_all, format, arguments);
    va_end(arguments);
}

void hunt_try_header(struct hunt *h, struct hunt_name name, struct sframe_fix fix,
                     const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    try(h, name, fix, of_header, format, arguments);
    va_end(arguments);
}

void hunt_try_part(struct hunt *h, struct hunt_name name, struct sframe_fix fix, const char *format,
                   ...)
{
    va_list arguments;

    va_start(arguments, format);
    try(h, name, fix, of_part, format, arguments);
    va_end(arguments);
}

void hunt_try_functions(struct hunt *h, struct hunt_name name, struct sframe_fix fix, bool few,
                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    try(h, name, fix, few ? of_few : h->by_code ? of_code : of_functions, format, arguments);
    va_end(arguments);
}

void hunt_try_fit(struct hunt *h, struct hunt_name name, struct sframe_fix fix, const char *format,
                  ...)
{
    struct findings silent = { .limit = 0 };
    struct check sub = *h->c;
    va_list arguments;

    if (h->left == 0 || !findings_init(&silent, 0, &(struct findings_ears){ .take = NULL }))
        return;
    sub.findings = &silent;
    sub.reading = (struct check_reading){ .fix = fix };
    va_start(arguments, format);
    if (check_read(&sub)) {
        const struct check_share now = truth_fit(&sub, h->truth);

        if (truth_fits(&now))
            take(h, name, fix, 0, format, arguments);
    }
    va_end(arguments);
    check_unread(&sub);
    findings_free(&silent);
}

void hunt_settle(struct hunt *h, struct hunt_name name, struct sframe_fix fix, const char *format,
                 ...)
{
    va_list arguments;

    va_start(arguments, format);
    take(h, name, fix, 0, format, arguments);
    va_end(arguments);
}

/* From what explains most to what explains least, until one does. */
static void hunt_in_turn(struct hunt *h)
{
    const struct cause *out = h->out;

    hunt_header(h);
    if (hunt_functions(h) == 0)
        return;
    if (out->code == 0)
        hunt_lost(h);
    if (out->code == 0)
        hunt_stretch(h, false);
    if (out->code == 0)
        hunt_entries(h);
    if (out->code == 0 &&
        (out->before.equal * 2 >= out->before.all || h->truth->count < TRUTH_LEAST))
        hunt_rows(h);
    if (out->code == 0)
        hunt_order(h);
    if (out->code == 0)
        hunt_stretch(h, true);
    if (out->code == 0)
        hunt_last(h);
}

bool cause_hunt(struct cause *out, const struct check *c, const struct check *as_it_stands,
                const struct truth *truth)
{
    struct hunt h = { .c = c, .as_it_stands = as_it_stands, .truth = truth, .out = out };

    out->code = 0;
    out->before = truth_fit(as_it_stands, truth);
    out->by = truth->by;
    if (!findings_init(&h.found, 0, &(struct findings_ears){ .take = NULL }))
        return false;
    check_count(&h.found, c, &(struct check_reading){ .version = 0 });
    h.all = h.left = grave(&h.found);
    /*
     * Rows that are shared beyond reason are an attack: each look at all of them is dear. A second table behind the
     * first one is a cause by itself: what is between the two fits in some place by chance.
     */
    if (h.all > 0 && hunt_count(&h, CODE_TOO_SHARED) == 0 && hunt_count(&h, CODE_CONCATENATED) == 0)
        hunt_in_turn(&h);
    hunt_stretch_close(&h);
    findings_free(&h.found);
    return out->code != 0;
}
