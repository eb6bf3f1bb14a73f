/* What the tables cost without a walk and without a cache. */
#include "situations/situation.h"

#include <stdio.h>

#include "random.h"
#include "tables.h"
#include "timing.h"

enum { BATCHES_MAX = 101, PCS_MAX = 16384 };

struct lookup {
    const struct tables *tables;
    uint64_t pc;
};

static struct lookup lookups[PCS_MAX];
static size_t count;

static void shuffle(void)
{
    uint64_t state = 5;

    for (size_t i = count; i > 1; i--) {
        size_t j = random_below(&state, (unsigned)i);
        struct lookup swap = lookups[i - 1];

        lookups[i - 1] = lookups[j];
        lookups[j] = swap;
    }
}

/* The call in every function of a set, as a walk looks it up. */
static void list_chain(enum chain_set set)
{
    static struct tables parts[CHAIN_PARTS];
    const struct chain_loaded *chain = chain_loaded(set);

    count = 0;
    for (size_t i = 0; i < chain_count(set); i++) {
        struct tables *tables = &parts[i / chain->part_functions];

        if (i % chain->part_functions == 0) {
            tables_of(chain->return_addresses[i], tables);
        }
        lookups[count++] = (struct lookup){ tables, (uintptr_t)chain->return_addresses[i] - 1 };
    }
    shuffle();
}

/* A pc somewhere in every function of the C library. */
static void list_libc(void)
{
    static struct tables libc;
    uint64_t state = 6;
    struct sfb_cfi_fde fde;

    count = 0;
    tables_of((const void *)(uintptr_t)leaf_imports.glibc_backtrace, &libc);
    for (uint32_t i = 0; libc.have_eh_frame && i < libc.eh_frame.count && count < PCS_MAX; i++) {
        if (sfb_eh_frame_fde(&libc.eh_frame, i, &fde, NULL) == SFB_OK && fde.end > fde.start) {
            uint64_t pc = fde.start + random_below(&state, (unsigned)(fde.end - fde.start));

            lookups[count++] = (struct lookup){ &libc, pc };
        }
    }
    shuffle();
}

static enum sfb_status find(const struct lookup *lookup, bool sframe, struct sfb_rule *rule)
{
    return sframe ? sfb_section_find(&lookup->tables->section, lookup->pc, rule, NULL)
                  : sfb_eh_frame_find(&lookup->tables->eh_frame, lookup->pc, rule, NULL);
}

/* @return 0, or -1: an answer was none */
static int verify(const char *column, bool sframe)
{
    size_t found = 0;
    struct sfb_rule rule;

    for (size_t i = 0; i < count; i++) {
        bool have = sframe ? lookups[i].tables->have_section : lookups[i].tables->have_eh_frame;
        enum sfb_status status = have ? find(&lookups[i], sframe, &rule) : SFB_NO_FDE;

        /* A row of the C library may need an expression that no rule can say. */
        found += status == SFB_OK || status == SFB_NOT_EXPRESSIBLE;
    }
    if (found != count || count == 0) {
        fprintf(stderr, "bench: lookup, %s: %zu of %zu found\n", column, found, count);
        return -1;
    }
    return 0;
}

static int measure(const struct effort *effort, const char *column, bool sframe)
{
    double samples[BATCHES_MAX];
    unsigned batches = effort->batches < BATCHES_MAX ? effort->batches : BATCHES_MAX;

    if (verify(column, sframe) != 0) {
        return -1;
    }
    if (effort->smoke) {
        return 0;
    }
    for (unsigned b = 0; b < batches; b++) {
        struct sfb_rule rule;
        uint64_t start = timing_now();

        for (size_t i = 0; i < count; i++) {
            find(&lookups[i], sframe, &rule);
        }
        samples[b] = (double)(timing_now() - start) / (double)count;
    }
    record("lookup", column, sframe ? "sfb_section_find()" : "sfb_eh_frame_find()",
           timing_spread(samples, batches).median);
    return 0;
}

int situation_lookup(const struct effort *effort)
{
    static const struct {
        const char *column;
        enum chain_set set;
        bool sframe;
    } rows[] = {
        { "fp", CHAIN_FP, true },
        { "nofp", CHAIN_NOFP, true },
        { "fp", CHAIN_FP_BARE, false },
        { "nofp", CHAIN_NOFP_BARE, false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        list_chain(rows[i].set);
        if (measure(effort, rows[i].column, rows[i].sframe) != 0) {
            return -1;
        }
    }
    list_libc();
    return measure(effort, "libc", false);
}
