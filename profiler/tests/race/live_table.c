/*
 * The live table, while threads allocate: it is dumped, its lists of modules are renewed, it is stopped and started again.
 * What it says at the end is what lives, to the block.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>

#include "profiler/agent/live/dump.h"
#include "profiler/agent/live/lists.h"
#include "profiler/tests/live_heap/blocks.h"
#include "race/check.h"

enum { THREADS = 4, BLOCKS = 300, STEPS = 20000, DUMPS = 30, RESTARTS = 150, SIZE = 40 };

#define MIB ((uint64_t)1 << 20)

struct worker {
    pthread_t thread;
    uint64_t seed;
    void *block[BLOCKS];
    uint64_t live;
};

static struct worker workers[THREADS];
static bool ends;
static pthread_barrier_t barrier;

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static void step(struct worker *w)
{
    const size_t i = draw(&w->seed) % BLOCKS;

    if (!w->block[i]) {
        w->block[i] = block_new(SIZE);
    } else if (draw(&w->seed) % 4 == 0) {
        w->block[i] = block_resize(w->block[i], SIZE);
    } else {
        block_free(w->block[i]);
        w->block[i] = NULL;
    }
}

static void free_all(struct worker *w)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        if (w->block[i])
            block_free(w->block[i]);
        w->block[i] = NULL;
    }
}

/* --- dumps ------------------------------------------------------------------------------------- */

static void *churn(void *with)
{
    struct worker *w = with;

    for (int i = 0; i < STEPS; i++)
        step(w);
    for (size_t i = 0; i < BLOCKS; i++)
        w->live += w->block[i] != NULL;
    sfb_live_thread_end();
    return NULL;
}

static void expect_live(uint64_t blocks)
{
    struct sfb_live_sum sum = sum_now();

    CHECK(sum.all.samples == blocks, "%zu of %zu blocks", (size_t)sum.all.samples, (size_t)blocks);
    CHECK(sum.all.bytes == (double)(blocks * SIZE), "%.0f bytes", sum.all.bytes);
    CHECK(sum.bad == 0 && sum.changed == 0, "%zu bad", (size_t)sum.bad);
    sum_free(&sum);
}

static void dumps_beside_threads(int fd)
{
    uint64_t live = 0;

    table_begin(16 * MIB);
    for (int i = 0; i < THREADS; i++) {
        workers[i].seed = 88172645463325252U + (uint64_t)i * 7919;
        begin_thread(&workers[i].thread, churn, &workers[i]);
    }
    for (int i = 0; i < DUMPS; i++) {
        sfb_live_lists_renew(i % 2);
        CHECK(sfb_live_dump(fd, i % 2) == SFB_OK, "dump %d", i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        live += workers[i].live;
    }
    expect_live(live);
    for (int i = 0; i < THREADS; i++)
        free_all(&workers[i]);
    expect_live(0);
    sfb_live_stop();
}

/* --- stop and restart -------------------------------------------------------------------------- */

/* Slots of a table that was stopped are no slots of the next: at the end each block has one of its own. */
static void *churn_beside_restarts(void *with)
{
    struct worker *w = with;

    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED))
        step(w);
    pthread_barrier_wait(&barrier);
    free_all(w);
    for (size_t i = 0; i < BLOCKS; i++)
        w->block[i] = block_new(SIZE);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    free_all(w);
    sfb_live_thread_end();
    return NULL;
}

static void *dump_beside_restarts(void *with)
{
    const int fd = *(const int *)with;

    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
        const enum sfb_status status = sfb_live_dump(fd, false);

        CHECK(status == SFB_OK || status == SFB_BAD_ARGUMENT || status == SFB_NO_RESOURCE, "%d",
              status);
    }
    return NULL;
}

static void restarts_beside_threads(int fd)
{
    pthread_t dumper;

    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        begin_thread(&workers[i].thread, churn_beside_restarts, &workers[i]);
    begin_thread(&dumper, dump_beside_restarts, &fd);
    for (int i = 0; i < RESTARTS; i++) {
        table_begin((2 + 2 * (uint64_t)(i % 2)) * MIB);
        sfb_live_stop();
    }
    table_begin(4 * MIB);
    __atomic_store_n(&ends, true, __ATOMIC_RELAXED);
    pthread_join(dumper, NULL);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    expect_live((uint64_t)THREADS * BLOCKS);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    expect_live(0);
    sfb_live_stop();
}

int main(void)
{
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    sfb_live_reads_fresh = true;
    dumps_beside_threads(fd);
    restarts_beside_threads(fd);
    return 0;
}
