/* The parts of a process's heap, each against a plain model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/collector/heap/heap_account.h"
#include "profiler/collector/heap/heap_replay.h"
#include "profiler/collector/heap/heap_thread.h"
#include "support/test.h"

static uint64_t random_state = 88172645463325252;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

Test(heap_pieces, table_finds_what_lives)
{
    enum { ADDRESSES = 5000, STEPS = 400000 };
    struct sfb_heap_table *table = calloc(1, sizeof *table);
    static uint32_t lives[ADDRESSES]; /* site + 1 */
    size_t count = 0;

    cr_assert_not_null(table);
    for (uint32_t i = 0; i < STEPS; i++) {
        const size_t at = random_number() % ADDRESSES;
        const uint64_t pointer = 0x10000 + 16 * (uint64_t)at * (at % 7 == 0 ? 4096 : 1);
        struct sfb_heap_block *block = sfb_heap_table_find(table, pointer);

        cr_assert(eq(int, block != NULL, lives[at] != 0));
        if (block)
            cr_assert(block->pointer == pointer && block->site + 1 == lives[at]);
        if (block) {
            sfb_heap_table_remove(table, block);
            lives[at] = 0;
            count--;
        } else {
            cr_assert(sfb_heap_table_add(
                table, &(struct sfb_heap_block){ .pointer = pointer, .site = i }));
            lives[at] = i + 1;
            count++;
        }
        cr_assert(table->count == count);
    }
    sfb_heap_table_free(table);
    free(table);
}

Test(heap_pieces, sites_are_found_by_what_they_are)
{
    enum { COUNT = 20000 };
    struct sfb_heap_sites sites = { 0 };

    for (uint32_t i = 0; i < COUNT; i++) {
        const struct sfb_heap_site_key key = { 1 + i / 4, i / 2 % 2, i % 2 };

        cr_assert(sfb_heap_sites_find(&sites, &key) == 0);
        cr_assert(sfb_heap_sites_add(&sites, &key) == i + 1);
        sfb_heap_site_at(&sites, i)->id = i;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct sfb_heap_site_key key = { 1 + i / 4, i / 2 % 2, i % 2 };

        cr_assert(sfb_heap_sites_find(&sites, &key) == i + 1);
        cr_assert(sfb_heap_site_at(&sites, i)->id == i);
    }
    sfb_heap_sites_free(&sites);
}

Test(heap_pieces, classes_are_powers_of_two)
{
    cr_expect(sfb_heap_class(0) == 0 && sfb_heap_class(1) == 1 && sfb_heap_class(2) == 2);
    cr_expect(sfb_heap_class(3) == 2 && sfb_heap_class(4) == 3 && sfb_heap_class(4095) == 12);
    cr_expect(sfb_heap_class(4096) == 13 && sfb_heap_class(UINT64_MAX) == SFB_HEAP_CLASSES - 1);
}

/* --- a process without a drain -------------------------------------------------------------------- */

static struct sfb_heap heap;
static struct sfb_heap_process *process;
static struct sfb_heap_thread thread;

static void begin(uint64_t rate)
{
    static const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };

    heap = (struct sfb_heap){
        .rate = rate, .flags = SFB_HEAP_AGGREGATE, .temporary_within = 8, .blocks_max = 1000000
    };
    cr_assert_eq(
        sfb_recording_writer_open(&heap.writer, memfd_create("x", MFD_CLOEXEC), &start, NULL),
        SFB_OK);
    sfb_heap_clock_open(&heap.clock, false, 0);
    sfb_recording_put_process(heap.writer, &(struct sfb_recording_process){ .id = 1 });
    sfb_recording_put_thread(heap.writer, &(struct sfb_recording_thread){ .id = 1, .process = 1 });
    process = sfb_heap_process_open(&heap, 1, 0);
    thread = (struct sfb_heap_thread){ .id = 1 };
    cr_assert_not_null(process);
}

static void end(void)
{
    cr_expect(heap.status == SFB_OK);
    sfb_heap_process_close(process);
    sfb_recording_writer_close(heap.writer, 0, NULL);
}

static void allocate(uint64_t pointer, uint64_t size, uint64_t stack)
{
    sfb_heap_thread_allocated(
        process, &thread,
        &(struct sfb_heap_allocation){
            .time = pointer, .pointer = pointer, .size = size, .slack = 8, .hash = stack });
}

/* What there is no room for is counted, in no sum, and its free is unknown. */
Test(heap_pieces, follows_no_more_blocks_than_it_may)
{
    begin(0);
    heap.blocks_max = 3;
    for (uint64_t i = 1; i <= 5; i++)
        allocate(16 * i, 100, 1);
    cr_expect(process->dropped == 2 && process->live.blocks == 3 && process->live.bytes == 300);
    for (uint64_t i = 1; i <= 5; i++)
        sfb_heap_thread_freed(process, &thread, 1000000, 16 * i);
    allocate(160, 7, 1); /* there is room again */
    sfb_heap_replay_end(process);
    cr_expect(process->unknown == 2 && process->live.blocks == 1 && heap.blocks == 1);
    end();
}

/* Uniform in (0, 1). */
static double random_share(void)
{
    return ((double)(random_number() >> 11) + 0.5) / 0x1p53;
}

enum { SEEDS = 200, SIZES = 4, EACH = 20000, RATE = 65536 };

static const uint64_t sizes[SIZES] = { 24, 1000, 40000, 1000000 };

/* @return sums of a site after a run in which blocks of one size were sampled */
static struct sfb_recording_heap_amount sampled_run(uint64_t size, uint64_t blocks, bool freed)
{
    const double p = 1 - exp(-((double)size + 1) / RATE);
    struct sfb_recording_heap_amount out;
    uint64_t pointer = 0;

    begin(RATE);
    for (uint64_t i = 0; i < blocks; i++) {
        if (random_share() >= p)
            continue;
        allocate(16 * ++pointer, size, 1);
    }
    for (uint64_t i = 1; freed && i <= pointer; i++)
        sfb_heap_thread_freed(process, &thread, 100000000, 16 * i);
    out = (struct sfb_recording_heap_amount){ 0 };
    if (process->sites.count > 0) {
        const struct sfb_heap_site *site = sfb_heap_site_at(&process->sites, 0);

        out = freed ? sfb_heap_amount(&site->live, &site->live_variance, true)
                    : sfb_heap_amount(&site->allocated, &site->allocated_variance, true);
        cr_expect(out.samples == (freed ? 0 : pointer));
        /* Slack is of all blocks, too: each has 8 bytes of it. */
        cr_expect(fabs((double)site->slack - 8 / p * (double)pointer) <= (double)pointer,
                  "slack %g", (double)site->slack);
        cr_expect(site->live_slack == (freed ? 0 : site->slack));
    }
    end();
    return out;
}

/* The mean of many runs is the truth, and the variance that each tells is that of the runs. */
Test(heap_pieces, estimates_are_unbiased_and_know_their_error)
{
    for (size_t s = 0; s < SIZES; s++) {
        const uint64_t blocks = sizes[s] < 1000 ? 10 * EACH : EACH / 10;
        const double truth = (double)(blocks * sizes[s]);
        double sum = 0, variance = 0, square = 0, sum_blocks = 0;
        unsigned within = 0;

        for (unsigned seed = 0; seed < SEEDS; seed++) {
            const struct sfb_recording_heap_amount a = sampled_run(sizes[s], blocks, false);
            const double off = (double)a.bytes - truth;

            sum += (double)a.bytes;
            sum_blocks += (double)a.blocks;
            variance += (double)a.bytes_variance;
            square += off * off;
            within += off * off <= 4 * (double)a.bytes_variance;
        }
        /* Five sigma of the mean: it is not the run's luck. */
        cr_expect(fabs(sum / SEEDS - truth) <= 5 * sqrt(square) / SEEDS + 1e-6 * truth,
                  "%zu bytes: %g for %g", (size_t)sizes[s], sum / SEEDS, truth);
        cr_expect(fabs(sum_blocks / SEEDS - (double)blocks) <=
                  5 * sqrt(square) / SEEDS / (double)sizes[s] + 1);
        cr_expect(sizes[s] > 500000 || (variance / square > 0.7 && variance / square < 1.4),
                  "%zu bytes: variance %g of %g", (size_t)sizes[s], variance, square);
        cr_expect(sizes[s] > 500000 || (within >= SEEDS * 88 / 100 && within < SEEDS),
                  "%zu bytes: %u within two sigma", (size_t)sizes[s], within);
    }
}

/* What is freed takes away what it has added, to the unit. */
Test(heap_pieces, estimates_of_nothing_are_nothing)
{
    for (size_t s = 0; s < SIZES; s++) {
        const struct sfb_recording_heap_amount a = sampled_run(sizes[s], EACH, true);

        cr_expect(a.blocks == 0 && a.bytes == 0 && a.blocks_variance == 0 && a.bytes_variance == 0);
    }
}

/* Where nearly all is sampled, nearly nothing is estimated. */
Test(heap_pieces, large_blocks_stand_for_themselves)
{
    const struct sfb_heap_weight w = sfb_heap_weight_sampled(100000000, 524288);

    cr_expect(w.bytes == 100000000 && w.blocks == 1 << SFB_HEAP_UNIT_BITS);
    cr_expect(w.bytes_variance == 0 && w.blocks_variance == 0);
}
