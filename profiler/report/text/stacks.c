#include "profiler/report/text/stacks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "profiler/report/text/columns.h"
#include "profiler/report/text/stack_show.h"
#include "util/counted.h"
#include "util/foreign.h"

/* What a stack has, whichever thread it is of. */
struct entry {
    uint32_t stack; /* REPORT_NONE: none was taken */
    struct report_amount of[REPORT_VALUES];
    uint64_t reallocated, longest, elsewhere, slack, live_slack, overruns, overruns_freed;
    uint64_t key;      /* sort key */
    uint64_t heaviest; /* key of the stack that is shown */
    bool mapped;       /* some of it is of mmap() */
    bool suppressed;
};

struct entries {
    struct entry *at; /* of each stack of the model; those without one come last */
    size_t count;
    uint64_t all; /* sum of the keys */
};

/* --- Figures ----------------------------------------------------------------------------------- */

static struct entry *entry_of(const struct entries *e, uint32_t stack)
{
    return &e->at[stack == REPORT_NONE ? e->count - 1 : stack];
}

static void add_row(struct entry *to, const struct report_row *row)
{
    for (size_t i = 0; i < REPORT_VALUES; i++) {
        const struct report_amount own = report_row_amount(row, i);

        report_amount_add(&to->of[i], &own);
    }
}

static void add_totals(struct entry *to, const struct sfb_recording_heap_totals *t)
{
    to->reallocated = report_saturated(to->reallocated, t->reallocated);
    to->elsewhere = report_saturated(to->elsewhere, t->freed_elsewhere);
    to->slack = report_saturated(to->slack, t->slack_bytes);
    to->live_slack = report_saturated(to->live_slack, t->live_slack_bytes);
    to->overruns = report_saturated(to->overruns, t->overruns);
    to->overruns_freed = report_saturated(to->overruns_freed, t->overruns_freed);
    to->longest = t->longest_chain > to->longest ? t->longest_chain : to->longest;
}

static uint64_t key_of(const struct entry *e, const struct report_model *model,
                       enum report_stacks_order order)
{
    switch (order) {
    case REPORT_STACKS_LEAKS: return e->of[model->main].value;
    case REPORT_STACKS_TEMPORARY: return e->of[REPORT_TEMPORARY_OBJECTS].value;
    case REPORT_STACKS_REALLOCS: return e->reallocated;
    case REPORT_STACKS_SLACK: return e->slack;
    case REPORT_STACKS_ELSEWHERE: return e->elsewhere;
    case REPORT_STACKS_OVERRUNS: return report_saturated(e->overruns, e->overruns_freed);
    }
    return 0;
}

/* @return false: no memory */
static bool collect(struct entries *out, const struct report_model *model)
{
    out->count = model->stacks.count + 1;
    out->at = calloc(out->count, sizeof *out->at);
    if (!out->at)
        return false;
    for (size_t i = 0; i < out->count; i++)
        out->at[i].stack = i + 1 < out->count ? (uint32_t)i : REPORT_NONE;
    for (size_t i = 0; i < model->rows.count; i++)
        add_row(entry_of(out, model->rows.at[i].stack), &model->rows.at[i]);
    for (size_t i = 0; i < model->sites.count; i++) {
        const struct report_site *site = &model->sites.at[i];
        struct entry *entry = entry_of(out, model->rows.at[site->row].stack);

        entry->mapped |= site->site->kind == SFB_HEAP_MAPPED;
        if (site->totals)
            add_totals(entry, site->totals);
    }
    return true;
}

/* Takes away what is suppressed. */
static void suppress(struct entries *e, const struct report_model *model,
                     struct report_suppressions *suppressions)
{
    for (size_t i = 0; i < e->count; i++) {
        struct entry *entry = &e->at[i];
        struct report_suppression *s;

        if (entry->key == 0)
            continue;
        s = report_suppressions_find(suppressions, model, entry->stack);
        if (!s)
            continue;
        s->stacks++;
        report_amount_add(&s->blocks, &entry->of[REPORT_INUSE_OBJECTS]);
        report_amount_add(&s->bytes, &entry->of[REPORT_INUSE_SPACE]);
        entry->key = 0;
        entry->suppressed = true;
    }
}

/* Stacks that look the same are shown as one, the heaviest of them. */
static void merge(struct entries *e, const struct report_model *model)
{
    for (size_t i = 0; i + 1 < e->count; i++) {
        struct entry *from = &e->at[i], *to = &e->at[model->stacks.at[i].shown_as];

        if (from == to || from->suppressed)
            continue;
        if (to->suppressed) {
            *to = *from;
            from->key = 0;
            continue;
        }
        if (from->key > to->heaviest) {
            to->heaviest = from->key;
            to->stack = from->stack;
        }
        for (size_t k = 0; k < REPORT_VALUES; k++)
            report_amount_add(&to->of[k], &from->of[k]);
        to->reallocated = report_saturated(to->reallocated, from->reallocated);
        to->elsewhere = report_saturated(to->elsewhere, from->elsewhere);
        to->slack = report_saturated(to->slack, from->slack);
        to->live_slack = report_saturated(to->live_slack, from->live_slack);
        to->overruns = report_saturated(to->overruns, from->overruns);
        to->overruns_freed = report_saturated(to->overruns_freed, from->overruns_freed);
        to->longest = from->longest > to->longest ? from->longest : to->longest;
        to->mapped |= from->mapped;
        to->key = report_saturated(to->key, from->key);
        from->key = 0;
    }
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

/* --- Text -------------------------------------------------------------------------------------- */

static void put_of_blocks(FILE *to, const struct entry *e, uint64_t part, const char *what)
{
    const uint64_t all = e->of[REPORT_ALLOC_OBJECTS].value;

    fprintf(to, "%s%" PRIu64 " of %s %s (%.2f %%)",
            e->of[REPORT_ALLOC_OBJECTS].samples > 0 ? "about " : "", part,
            counted(all, "blocks").text, what, report_share(part, all));
}

static void put_figures(FILE *to, const struct report_model *model, const struct entry *e,
                        enum report_stacks_order order)
{
    const struct report_amount slack = report_exactly(e->slack),
                               live_slack = report_exactly(e->live_slack);

    switch (order) {
    case REPORT_STACKS_LEAKS:
        report_bytes_put(to, &e->of[REPORT_INUSE_OBJECTS], &e->of[REPORT_INUSE_SPACE]);
        if (model->live_only)
            break;
        fprintf(to, ", of %" PRIu64, e->of[REPORT_ALLOC_OBJECTS].value);
        if (e->of[REPORT_ALLOC_OBJECTS].samples > 0)
            fprintf(to, " \u00b1 %.0f", sqrt(e->of[REPORT_ALLOC_OBJECTS].variance));
        fprintf(to, " that %s allocated", e->of[REPORT_ALLOC_OBJECTS].value == 1 ? "was" : "were");
        break;
    case REPORT_STACKS_TEMPORARY:
        put_of_blocks(to, e, e->of[REPORT_TEMPORARY_OBJECTS].value, "temporary");
        fputs(", ", to);
        report_amount_put(to, &e->of[REPORT_TEMPORARY_SPACE], REPORT_BYTES);
        break;
    case REPORT_STACKS_REALLOCS:
        put_of_blocks(to, e, e->reallocated, "by realloc");
        fprintf(to, ", %s at most for one", counted(e->longest, "times").text);
        break;
    case REPORT_STACKS_SLACK:
        if (e->of[REPORT_ALLOC_OBJECTS].samples > 0)
            fputs("about ", to);
        report_amount_put(to, &slack, REPORT_BYTES);
        fputs(" of slack behind ", to);
        report_bytes_put(to, &e->of[REPORT_ALLOC_OBJECTS], &e->of[REPORT_ALLOC_SPACE]);
        fputs("; ", to);
        report_amount_put(to, &live_slack, REPORT_BYTES);
        fputs(" lives", to);
        break;
    case REPORT_STACKS_ELSEWHERE:
        put_of_blocks(to, e, e->elsewhere, "freed by another thread");
        break;
    case REPORT_STACKS_OVERRUNS:
        fprintf(to, "%s written past their end, of which %" PRIu64 " live",
                counted(e->key, "blocks").text, e->overruns);
        break;
    }
}

static void put_entry(FILE *to, const struct report_model *model, const struct report_style *style,
                      const struct report_stacks *s, const struct entry *e, size_t number,
                      uint64_t all)
{
    report_colour(to, style, REPORT_BOLD);
    fprintf(to, "%zu: ", number);
    put_figures(to, model, e, s->order);
    if (e->mapped)
        fputs(", by mmap()", to);
    fprintf(to, ", %.2f %% of all", report_share(e->key, all));
    report_colour(to, style, REPORT_PLAIN);
    fputc('\n', to);
    report_stack_put(to, model, style, e->stack, "  ");
    fputc('\n', to);
}

static void put_head(FILE *to, const struct report_model *model, const struct report_stacks *s,
                     const struct entries *e, size_t count)
{
    static const char *const none[] = {
        [REPORT_STACKS_LEAKS] = "nothing lives",
        [REPORT_STACKS_TEMPORARY] = "no block is known to be temporary",
        [REPORT_STACKS_REALLOCS] = "no block is known to be of realloc()",
        [REPORT_STACKS_SLACK] = "no slack is known",
        [REPORT_STACKS_ELSEWHERE] = "no block is known to be freed by another thread",
        [REPORT_STACKS_OVERRUNS] = "no block is known to be overrun",
    };
    struct report_amount blocks = report_exactly(0), bytes = report_exactly(0);

    if (count == 0) {
        fprintf(to, "%s\n", none[s->order]);
        return;
    }
    if (s->order != REPORT_STACKS_LEAKS)
        return;
    for (size_t i = 0; i < count; i++) {
        report_amount_add(&blocks, &e->at[i].of[REPORT_INUSE_OBJECTS]);
        report_amount_add(&bytes, &e->at[i].of[REPORT_INUSE_SPACE]);
    }
    fputs(model->choice.at_instant                 ? "live then: "
          : report_choice_is_timed(&model->choice) ? "grown by: "
          : model->choice.tail > 0 || model->choice.tail_percent > 0.0
              ? "live at the end, and before the tail; at most: "
              : "live at the end: ",
          to);
    report_bytes_put(to, &blocks, &bytes);
    fprintf(to, ", %s. A recording does not show whether the program can still reach them\n\n",
            counted(count, "stacks").text);
}

static void put_suppressions(FILE *to, const struct report_stacks *s)
{
    const struct report_suppressions *all = s->suppressions;

    for (size_t i = 0; all && i < all->all.count; i++) {
        const struct report_suppression *one = &all->all.at[i];

        if (one->stacks == 0)
            continue;
        fputs("suppressed: ", to);
        report_bytes_put(to, &one->blocks, &one->bytes);
        fprintf(to, ", %s, by leak:", counted(one->stacks, "stacks").text);
        foreign_print(to, one->pattern);
        fputc('\n', to);
    }
    for (size_t i = 0; all && i < all->all.count; i++) {
        if (all->all.at[i].stacks > 0)
            continue;
        fputs("unused: leak:", to);
        foreign_print(to, all->all.at[i].pattern);
        fputs(" (", to);
        foreign_print(to, s->suppressions_path ? s->suppressions_path : "");
        fprintf(to, ":%zu)\n", all->all.at[i].line);
    }
}

static void write_entries(FILE *to, const struct report_model *model,
                          const struct report_style *style, const struct report_stacks *s,
                          struct entries *e)
{
    size_t count = 0, shown = 0;
    uint64_t others = 0;

    while (count < e->count && e->at[count].key > 0) {
        e->all = report_saturated(e->all, e->at[count].key);
        count++;
    }
    put_head(to, model, s, e, count);
    for (size_t i = 0; i < count; i++) {
        if ((s->rows > 0 && shown >= s->rows) || report_share(e->at[i].key, e->all) < s->percent) {
            others = report_saturated(others, e->at[i].key);
            continue;
        }
        put_entry(to, model, style, s, &e->at[i], ++shown, e->all);
    }
    if (count > shown)
        fprintf(to, "[%zu more], %.2f %% of all\n", count - shown, report_share(others, e->all));
    put_suppressions(to, s);
}

bool report_stacks_write(FILE *to, const struct report_model *model,
                         const struct report_style *style, const struct report_stacks *s)
{
    struct entries entries = { .count = 0 };

    if (!collect(&entries, model))
        return false;
    for (size_t i = 0; i < entries.count; i++)
        entries.at[i].key = key_of(&entries.at[i], model, s->order);
    if (s->suppressions)
        suppress(&entries, model, s->suppressions);
    for (size_t i = 0; i < entries.count; i++)
        entries.at[i].heaviest = entries.at[i].key;
    merge(&entries, model);
    qsort(entries.at, entries.count, sizeof *entries.at, compare);
    write_entries(to, model, style, s, &entries);
    free(entries.at);
    return true;
}
