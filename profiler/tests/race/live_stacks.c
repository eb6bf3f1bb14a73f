/*
 * Stacks of the live table come and go while threads allocate, and a reader looks at them: each stack that it gets is of the
 * blocks that stand with it. At the end each block has the stack that its thread gave it, or is counted as a block without
 * its stack. All of it with membarrier(), and with barriers in the threads.
 */
#include <stdbool.h>
#include <stdint.h>

#include "profiler/agent/live/live_stacks.h"
#include "profiler/tests/live_heap/blocks.h"
#include "profiler/tests/live_heap/named.h"
#include "race/check.h"

enum { THREADS = 4, BLOCKS = 150, STEPS = 50000, WHICH = 64 };

#define MIB ((uint64_t)1 << 20)

struct worker {
    pthread_t thread;
    uint64_t seed;
    void *block[BLOCKS];
    size_t size[BLOCKS];
};

static struct worker workers[THREADS];
static bool ends;

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static void step(struct worker *w)
{
    const size_t i = draw(&w->seed) % BLOCKS, size = draw(&w->seed) % NAMED_SIZES;
    const uint32_t which = (uint32_t)(draw(&w->seed) % WHICH);

    if (w->block[i] && draw(&w->seed) % 4 == 0) {
        w->block[i] = named_resize(w->block[i], size + 1 < NAMED_SIZES ? size + 1 : 1, which);
        w->size[i] = size + 1 < NAMED_SIZES ? size + 1 : 1;
        return;
    }
    if (w->block[i])
        block_free(w->block[i]);
    w->block[i] = named_new(size, which);
    w->size[i] = size;
}

static void *churn(void *with)
{
    struct worker *w = with;

    for (int i = 0; i < STEPS; i++)
        step(w);
    sfb_live_thread_end();
    return NULL;
}

/* A copy of the header is what a dump has: the program's own changes. */
static struct named_tally look(struct sfb_live *head)
{
    const struct sfb_live_table *t = &sfb_live_table;
    struct sfb_live_sum sum = { .stacks = t->stack_room };
    struct sfb_live_view view = { .stacks = t->stacks, .pieces = t->pieces, .lists = t->lists };
    struct named_tally tally;

    sum.of = calloc(sum.stacks, sizeof *sum.of);
    CHECK(sum.of, "no memory");
    sfb_live_table_head(t, head);
    sfb_live_sum_begin(&sum, t->stacks, head->stacks.used);
    sfb_live_sum_slots(&sum, t->slots + 1, head->slots_used - 1);
    sfb_live_table_head(t, &view.head);
    sfb_live_sum_end(&sum, view.head.stacks.used);
    tally = named_check(&view, &sum);
    CHECK(tally.wrong == 0, "%zu stacks stand with blocks of another", (size_t)tally.wrong);
    CHECK(sum.bad == 0, "%zu", (size_t)sum.bad);
    free(sum.of);
    return tally;
}

static void *read_on(void *with)
{
    struct sfb_live head;

    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED))
        look(&head);
    return with;
}

static void begin_threads(pthread_t *reader)
{
    __atomic_store_n(&ends, false, __ATOMIC_RELAXED);
    begin_thread(reader, read_on, NULL);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .seed = 88172645463325252U + (uint64_t)i * 7919 };
        begin_thread(&workers[i].thread, churn, &workers[i]);
    }
}

static void join_threads(pthread_t reader)
{
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    __atomic_store_n(&ends, true, __ATOMIC_RELAXED);
    pthread_join(reader, NULL);
}

static uint64_t bytes_now(void)
{
    uint64_t bytes = 0;

    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < BLOCKS; k++)
            bytes += workers[i].block[k] ? workers[i].size[k] : 0;
    return bytes;
}

static void free_all(void)
{
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < BLOCKS; k++)
            if (workers[i].block[k])
                block_free(workers[i].block[k]);
}

/* @param fences  the threads have barriers of their own, as on a system without membarrier() */
static void run(bool fences)
{
    struct named_tally tally;
    struct sfb_live head;
    pthread_t reader;

    table_begin(2 * MIB);
    sfb_live_table.fences |= fences;
    begin_threads(&reader);
    join_threads(reader);
    tally = look(&head);
    CHECK(tally.bytes == bytes_now(), "%zu of %zu bytes", (size_t)tally.bytes, (size_t)bytes_now());
    CHECK(tally.unnamed <= head.counts.no_stack, "%zu", (size_t)tally.unnamed);
    CHECK(head.reclaim.freed > 0, "no stack was freed");
    free_all();
    tally = look(&head);
    CHECK(tally.blocks == 0, "%zu", (size_t)tally.blocks);
    sfb_live_stop();
}

int main(void)
{
    run(false);
    run(true);
    return 0;
}
