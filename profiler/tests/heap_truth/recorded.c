/*
 * Prints what a recording says of the heap of one program, and what comes out when its events are replayed.
 *
 *     recorded FILE PROGRAM
 *
 * Sums are those of the processes whose file has that name. It uses the reader alone, no report.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/recording.h"

enum { PAIRS_MAX = 1 << 21 }; /* of a site and a size, live at some time */

struct entry {
    uint32_t process;
    bool has_totals;
    struct sfb_recording_heap_totals totals;
};

/* By id, which is 1, 2, ... */
struct table {
    struct entry *entries;
    size_t room;
};

struct pair {
    uint32_t site; /* 0: none */
    uint64_t size, live;
};

static struct table processes, threads,
    sites; /* of processes: `process` is 1 where the name is right */
static struct pair pairs[PAIRS_MAX];
static struct sfb_recording_heap_sum allocated, freed, live, peak;
static uint64_t impossible, lost[SFB_LOSS_COUNT], unknown, conflicts, resident;
static struct sfb_recording_heap_sum state_peak, state_live, state_allocated;
static size_t pairs_used, process_count;

static struct entry *entry_of(struct table *table, uint32_t id)
{
    if (id >= table->room) {
        const size_t room = ((size_t)id + 1) * 2;
        struct entry *larger = realloc(table->entries, room * sizeof *larger);

        if (larger == NULL)
            exit(2);
        memset(larger + table->room, 0, (room - table->room) * sizeof *larger);
        table->entries = larger;
        table->room = room;
    }
    return &table->entries[id];
}

static bool is_wanted(uint32_t process)
{
    return entry_of(&processes, process)->process != 0;
}

static struct pair *pair_of(uint32_t site, uint64_t size)
{
    size_t i =
        (size_t)((site * 0x9e3779b97f4a7c15U ^ size * 0xc2b2ae3d27d4eb4fU) >> 32) % PAIRS_MAX;

    while (pairs[i].site != 0 && (pairs[i].site != site || pairs[i].size != size))
        i = (i + 1) % PAIRS_MAX;
    if (pairs[i].site == 0 && ++pairs_used > PAIRS_MAX / 4 * 3) {
        fprintf(stderr, "recorded: too many pairs of a site and a size\n");
        exit(2);
    }
    pairs[i].site = site;
    pairs[i].size = size;
    return &pairs[i];
}

static void replay(const struct sfb_recording_heap_event *e)
{
    struct pair *pair = pair_of(e->site, e->size);
    struct sfb_recording_heap_sum *sum = e->freed ? &freed : &allocated;

    sum->blocks++;
    sum->bytes += e->size;
    if (!e->freed) {
        pair->live++;
        live.blocks++;
        live.bytes += e->size;
        if (live.bytes > peak.bytes)
            peak = live;
    } else if (pair->live == 0) {
        impossible++;
    } else {
        pair->live--;
        live.blocks--;
        live.bytes -= e->size;
    }
}

static void take_state(const struct sfb_recording_heap_state *s)
{
    state_live = s->live;
    state_allocated = s->allocated;
    state_peak = s->peak;
    unknown = s->unknown_frees;
    conflicts = s->conflicts;
    if (s->resident > resident)
        resident = s->resident;
}

static void take(const struct sfb_recording_event *event, const char *program)
{
    switch (event->kind) {
    case SFB_EVENT_PROCESS: {
        const char *slash = strrchr(event->of.process.program, '/');
        const char *name = slash == NULL ? event->of.process.program : slash + 1;

        entry_of(&processes, event->of.process.id)->process = strcmp(name, program) == 0;
        process_count += strcmp(name, program) == 0;
        break;
    }
    case SFB_EVENT_THREAD:
        entry_of(&threads, event->of.thread.id)->process = event->of.thread.process;
        break;
    case SFB_EVENT_HEAP_SITE:
        entry_of(&sites, event->of.heap_site.id)->process =
            entry_of(&threads, event->of.heap_site.thread)->process;
        break;
    case SFB_EVENT_HEAP_TOTALS:
        entry_of(&sites, event->of.heap_totals.site)->totals = event->of.heap_totals;
        entry_of(&sites, event->of.heap_totals.site)->has_totals = true;
        break;
    case SFB_EVENT_HEAP_STATE:
        if (is_wanted(event->of.heap_state.process))
            take_state(&event->of.heap_state);
        break;
    case SFB_EVENT_HEAP_EVENT:
        if (is_wanted(event->of.heap_event.process))
            replay(&event->of.heap_event);
        break;
    case SFB_EVENT_LOSSES:
        if (event->of.losses.reason < SFB_LOSS_COUNT)
            lost[event->of.losses.reason] += event->of.losses.count;
        break;
    default: break;
    }
}

static void add(struct sfb_recording_heap_sum *sum, const struct sfb_recording_heap_amount *amount)
{
    sum->blocks += amount->blocks;
    sum->bytes += amount->bytes;
}

static void print(const char *name, struct sfb_recording_heap_sum sum)
{
    printf("%s %" PRIu64 " %" PRIu64 "\n", name, sum.blocks, sum.bytes);
}

static void print_sums(void)
{
    struct sfb_recording_heap_sum all = { 0 }, left = { 0 }, most = { 0 }, temporary = { 0 };
    uint64_t reallocated = 0, chain = 0, elsewhere = 0, variance = 0;

    for (size_t i = 0; i < sites.room; i++) {
        const struct sfb_recording_heap_totals *t = &sites.entries[i].totals;

        if (!sites.entries[i].has_totals || !is_wanted(sites.entries[i].process))
            continue;
        add(&all, &t->allocated);
        add(&left, &t->live);
        add(&most, &t->peak);
        add(&temporary, &t->temporary);
        reallocated += t->reallocated;
        elsewhere += t->freed_elsewhere;
        variance += t->allocated.bytes_variance;
        if (t->longest_chain > chain)
            chain = t->longest_chain;
    }
    print("allocated", all);
    print("live", left);
    print("peak", most);
    print("temporary", temporary);
    printf("reallocated %" PRIu64 "\nlongest-chain %" PRIu64 "\nelsewhere %" PRIu64
           "\nvariance %" PRIu64 "\n",
           reallocated, chain, elsewhere, variance);
}

int main(int argc, char **argv)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct sfb_recording_event event;

    if (argc != 3 || sfb_recording_reader_open(&reader, argv[1], NULL) != SFB_OK) {
        fprintf(stderr, "recorded: usage: recorded FILE PROGRAM, or no recording\n");
        return 2;
    }
    while (sfb_recording_reader_next(reader, &event) == SFB_OK)
        take(&event, argv[2]);
    sfb_recording_reader_health(reader, &health);
    printf("processes %zu\n", process_count);
    print_sums();
    print("state-allocated", state_allocated);
    print("state-live", state_live);
    print("state-peak", state_peak);
    print("replayed-allocated", allocated);
    print("replayed-freed", freed);
    print("replayed-live", live);
    print("replayed-peak", peak);
    printf("impossible %" PRIu64 "\nunknown %" PRIu64 "\nconflicts %" PRIu64 "\n", impossible,
           unknown, conflicts);
    printf("lost %" PRIu64 "\nwaits %" PRIu64 "\nnested %" PRIu64 "\n", lost[SFB_LOSS_HEAP_EVENTS],
           lost[SFB_LOSS_HEAP_WAITS], lost[SFB_LOSS_NESTED]);
    printf("damaged %" PRIu64 "\nfinished %d\nbytes %" PRIu64 "\n",
           health.bad_blocks + health.skipped + health.torn + health.lost_records +
               health.bad_records,
           health.finished, health.size);
    sfb_recording_reader_close(reader);
    return 0;
}
