/* The live table by itself: what it says of blocks is what lives, whatever threads do. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/agent/live/dump.h"
#include "profiler/agent/live/lists.h"
#include "profiler/agent/live/map.h"
#include "profiler/agent/live/unknown.h"
#include "profiler/agent/random.h"
#include "profiler/tests/live_heap/blocks.h"
#include "support/compiler.h"

#define MIB ((uint64_t)1 << 20)

enum { THREADS = 4, BLOCKS = 500, STEPS = 40000 };

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

/* --- a model -------------------------------------------------------------------------------------- */

struct model {
    uint64_t seed;
    void *block[BLOCKS];
    size_t size[BLOCKS];
    uint8_t mark[BLOCKS]; /* all bytes of it */
    const char *wrong;
    bool keep;
};

static size_t draw_size(uint64_t *seed)
{
    const unsigned bits = (unsigned)(draw(seed) % 15);

    return draw(seed) % ((size_t)1 << bits) + draw(seed) % 3;
}

static void fill(struct model *m, size_t i)
{
    const size_t usable = block_usable(m->block[i]);

    if (usable < m->size[i])
        m->wrong = "less is usable than was asked for";
    m->mark[i] = (uint8_t)draw(&m->seed);
    memset(m->block[i], m->mark[i], usable); /* what programs do that ask for it */
}

static void make(struct model *m, size_t i)
{
    static const size_t alignments[] = { 16, 32, 64, 256, 4096 };
    const uint64_t kind = draw(&m->seed) % 8;

    m->size[i] = draw_size(&m->seed);
    if (kind == 0) {
        const size_t alignment = alignments[draw(&m->seed) % 5];

        m->block[i] = block_new_aligned(alignment, m->size[i]);
        if ((uintptr_t)m->block[i] % alignment != 0)
            m->wrong = "the alignment is lost";
    } else if (kind == 1) {
        m->block[i] = block_new_zeroed(m->size[i]);
        for (size_t at = 0; at < m->size[i]; at++)
            if (((uint8_t *)m->block[i])[at] != 0)
                m->wrong = "calloc() is not zero";
    } else {
        m->block[i] = block_new(m->size[i]);
    }
    fill(m, i);
}

static void resize(struct model *m, size_t i)
{
    const size_t before = m->size[i];

    m->size[i] = draw_size(&m->seed) + 1;
    m->block[i] = block_resize(m->block[i], m->size[i]);
    for (size_t at = 0; at < before && at < m->size[i]; at++)
        if (((uint8_t *)m->block[i])[at] != m->mark[i])
            m->wrong = "realloc() has lost bytes";
    fill(m, i);
}

static void *run_model(void *with)
{
    struct model *m = with;

    for (int step = 0; step < STEPS; step++) {
        const size_t i = draw(&m->seed) % BLOCKS;

        if (!m->block[i]) {
            make(m, i);
        } else if (draw(&m->seed) % 4 == 0) {
            resize(m, i);
        } else {
            block_free(m->block[i]);
            m->block[i] = NULL;
        }
    }
    for (size_t i = 0; i < BLOCKS && !m->keep; i++)
        if (m->block[i]) {
            block_free(m->block[i]);
            m->block[i] = NULL;
        }
    sfb_live_thread_end();
    return NULL;
}

Test(table, has_what_lives_after_four_threads)
{
    static struct model models[THREADS];
    pthread_t threads[THREADS];
    double blocks = 0, bytes = 0;
    struct sfb_live_tails *tails;
    struct sfb_live_sum sum;
    uint64_t beside = 0;

    table_begin(16 * MIB);
    for (int i = 0; i < THREADS; i++) {
        models[i].seed = 88172645463325252U + (uint64_t)i * 7919;
        models[i].keep = true;
        cr_assert_eq(pthread_create(&threads[i], NULL, run_model, &models[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_null(models[i].wrong, "%s", models[i].wrong);
        for (size_t k = 0; k < BLOCKS; k++) {
            blocks += models[i].block[k] != NULL;
            beside += models[i].block[k] &&
                      malloc_usable_size(models[i].block[k]) < models[i].size[k] + SFB_LIVE_TAIL;
            bytes += models[i].block[k] ? (double)models[i].size[k] : 0;
        }
    }
    sum = sum_now();
    cr_expect_float_eq(sum.all.blocks, blocks, 0.1);
    cr_expect_float_eq(sum.all.bytes, bytes, 0.1);
    tails = tails_now(&sum);
    cr_expect(beside > 5, "%" PRIu64, beside);
    cr_expect_eq(tails->checked, (uint64_t)blocks - beside);
    cr_expect_eq(tails->overruns, 0);
    cr_expect_eq(tails->unknown, 0);
    free(tails);
    sum_free(&sum);

    for (int i = 0; i < THREADS; i++)
        for (size_t k = 0; k < BLOCKS; k++)
            if (models[i].block[k])
                block_free(models[i].block[k]);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 0);
    cr_expect_eq(sfb_live_table.map->counts.foreign, 0);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 0);
    cr_expect_eq(sfb_live_table.map->counts.no_stack, 0);
    /* Threads that ended have given their slots back. */
    cr_expect(sfb_live_table.map->slots_used < THREADS * BLOCKS + 16 * SFB_LIVE_BATCH, "%u",
              sfb_live_table.map->slots_used);
    sum_free(&sum);
    sfb_live_stop();
}

/* --- large blocks --------------------------------------------------------------------------------- */

/* The program uses all of it. */
static void *new_large(size_t least)
{
    const struct sfb_regs caller = { .pc = 0x12340 };
    void *p = malloc(least);

    cr_assert(p);
    memset(p, 'x', malloc_usable_size(p));
    sfb_live_allocated(p, malloc_usable_size(p), malloc_usable_size(p), &caller);
    return p;
}

/* They stay in their size class: all that the program asked for is its own. */
Test(table, takes_nothing_of_a_large_block)
{
    enum { COUNT = 3000 };
    static char *block[COUNT];
    struct sfb_live_sum sum;

    table_begin(4 * MIB);
    for (int i = 0; i < COUNT; i++)
        block[i] = new_large((size_t)SFB_LIVE_LARGE + (size_t)i % 100);
    for (int i = 0; i < COUNT; i++) {
        const size_t usable = malloc_usable_size(block[i]);

        cr_assert_eq(block_usable(block[i]), usable);
        for (size_t at = usable - SFB_LIVE_TAIL; at < usable; at++)
            cr_assert_eq(block[i][at], 'x');
    }
    sum = sum_now();
    cr_expect_eq(sum.all.samples, COUNT);
    sum_free(&sum);
    for (int i = 0; i < COUNT; i += 2)
        block_free(block[i]);
    for (int i = 1; i < COUNT; i += 2)
        block[i] = block_resize(block[i], (size_t)i % 3 ? 100 : 5000);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, COUNT / 2);
    sum_free(&sum);
    for (int i = 1; i < COUNT; i += 2)
        block_free(block[i]);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 0);
    cr_expect_eq(sfb_live_table.map->counts.foreign, 0);
    sum_free(&sum);
    sfb_live_stop();
}

/* Entries of blocks that were freed are used again. */
Test(table, finds_large_blocks_after_many)
{
    void *before = malloc(10000);
    struct sfb_live_sum sum;

    table_begin(2 * MIB);
    for (int i = 0; i < 200000; i++) {
        void *p = malloc(8192);

        sfb_live_allocated((char *)p + i % 2048 * 2, 4096, 4096,
                           &(struct sfb_regs){ .pc = 0x12340 });
        sfb_live_freed((char *)p + i % 2048 * 2, 4096);
        free(p);
    }
    sum = sum_now();
    cr_expect_leq(sum.all.samples, 0);
    sum_free(&sum);
    cr_expect_eq(sfb_live_table.map->counts.foreign + sfb_live_table.map->counts.unidentified, 0);
    block_free(before);
    cr_expect_eq(sfb_live_table.map->counts.foreign, 1);
    sfb_live_stop();
}

/* A block of a power of two is 8 bytes shorter than glibc's. */
Test(table, tells_an_overrun_of_a_large_block)
{
    struct sfb_live_tails *tails;
    struct sfb_live_sum sum;
    char *p, *good;

    if (sanitized())
        cr_skip_test("the sanitizer's allocator gives no byte more than asked for");
    table_begin(4 * MIB);
    good = block_new(8192);
    p = block_new(8192);
    cr_expect_eq(block_usable(p), malloc_usable_size(p) - SFB_LIVE_TAIL);
    memset(p, 'x', malloc_usable_size(p));
    sum = sum_now();
    tails = tails_now(&sum);
    cr_expect_eq(tails->checked, 2);
    cr_expect_eq(tails->overruns, 1);
    free(tails);
    sum_free(&sum);
    block_free(p);
    block_free(good);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 1);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 0);
    sum_free(&sum);
    sfb_live_stop();
}

/* --- tails ---------------------------------------------------------------------------------------- */

__attribute__((noinline)) static char *allocate_the_overrun(size_t size)
{
    char *p = block_new(size);

    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}

Test(table, tells_an_overrun_with_the_stack_that_allocated)
{
    char *good, *p;
    struct sfb_live_sum sum;
    struct sfb_live_tails *tails;
    uint32_t stack;

    table_begin(4 * MIB);
    good = block_new(40);
    p = allocate_the_overrun(40); /* of 44 asked for, 56 are usable: 12 behind them are slack */
    stack = sfb_live_stack_of(sfb_live_table.slots[2].what);
    cr_assert_eq(sfb_live_address(sfb_live_table.slots[2].block), (uintptr_t)p);
    memset(p, 'x', malloc_usable_size(p));
    sum = sum_now();
    tails = tails_now(&sum);
    cr_expect_eq(tails->checked, 2);
    cr_expect_eq(tails->overruns, 1);
    cr_expect_eq(sum.of[stack].overruns, 1);
    free(tails);
    sum_free(&sum);

    block_free(p);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 1);
    cr_expect_eq(sfb_live_table.map->counts.foreign, 0);
    {
        const struct sfb_live_view view = view_now();
        uint8_t cbf[SFB_LIVE_CBF_MAX];
        struct sfb_live_stack of;

        cr_assert(sfb_live_stack_copy(&view, stack, &of, cbf) > 0);
        cr_expect_eq(of.overruns, 1);
    }
    block_free(good);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 0, "its slot is free again");
    sum_free(&sum);
    sfb_live_stop();
}

Test(table, tells_foreign_blocks)
{
    void *const before = malloc(100);
    void *own;

    memset(before, 0, malloc_usable_size(before)); /* a tail of zeros is no slot */
    table_begin(4 * MIB);
    own = block_new(100);
    cr_expect_eq(block_usable(before), malloc_usable_size(before));
    cr_expect_eq(block_usable(own), malloc_usable_size(own) - SFB_LIVE_TAIL);
    block_free(before);
    cr_expect_eq(sfb_live_table.map->counts.foreign, 1);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 0);
    block_free(own);
    cr_expect_eq(sfb_live_table.map->counts.foreign, 1);
    sfb_live_stop();
}

/* A library with RTLD_DEEPBIND calls the C library's free() and malloc(): the table does not see them. */
Test(table, accuses_no_block_of_a_library_that_bypasses_it)
{
    const struct sfb_live_counts *counts;
    struct sfb_live_tails *tails;
    struct sfb_live_sum sum;
    void *p, *again;

    if (sanitized())
        cr_skip_test("the sanitizer's allocator keeps freed memory for a while");
    sfb_live_bypassed(); /* before the table, which begins late */
    table_begin(4 * MIB);
    counts = &sfb_live_table.map->counts;

    p = block_new(100);
    free(p);
    again = malloc(104);
    cr_assert_eq(again, p, "the allocator gives out the same memory");
    memset(again, 'x', malloc_usable_size(again)); /* all of it is the library's */
    block_free(again);
    cr_expect(counts->overruns == 0 && counts->foreign == 0 && counts->unidentified == 0);
    cr_expect_eq(sfb_live_table.map->unseen, 1);

    p = block_new(100);
    free(p);
    again = block_new(100);
    cr_assert_eq(again, p);
    cr_expect_eq(sfb_live_table.map->unseen, 2);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 1, "its slot of before is free");
    sum_free(&sum);

    free(again);
    again = malloc(104);
    memset(again, 'x', malloc_usable_size(again));
    p = block_new(3000); /* lives */
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 2);
    tails = tails_now(&sum);
    cr_expect(tails->overruns == 0 && tails->unseen == 1, "%zu", (size_t)tails->unseen);
    cr_expect(sum.all.samples == 1 && sum.all.bytes == 3000, "%f bytes", sum.all.bytes);
    free(tails);
    sum_free(&sum);
    block_free(p);
    free(again);
    sfb_live_stop();
}

/* The allocator gives out the address of a block that lives, as the table has it. */
Test(table, notices_that_blocks_are_freed_past_it)
{
    static _Alignas(16) char memory[256];
    const struct sfb_regs caller = { .pc = 0x12340 };
    struct sfb_live_sum sum;

    sfb_live_reads_fresh = true;
    table_begin(4 * MIB);
    sfb_live_allocated(memory, 100, 120, &caller);
    memset(memory, 'x', sizeof memory); /* an overrun, or another block: nothing tells yet */
    sfb_live_freed(memory, 120);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 1);

    sfb_live_allocated(memory, 100, 120, &caller);
    sfb_live_allocated(memory, 90, 120, &caller);
    cr_expect(sfb_live_table.map->flags & SFB_LIVE_BYPASSED);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 0, "no block is accused any more");
    cr_expect_eq(sfb_live_table.map->unseen, 2);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 1);
    cr_expect_eq(sum.all.bytes, 90);
    sum_free(&sum);
    sfb_live_stop();
}

/* An overrun does not change the size of the block. */
Test(table, knows_a_later_block_by_its_size)
{
    static _Alignas(16) char memory[256];
    const struct sfb_regs caller = { .pc = 0x12340 };

    table_begin(4 * MIB);
    sfb_live_allocated(memory, 100, 120, &caller);
    memset(memory, 'x', sizeof memory);
    sfb_live_freed(memory, 200);
    cr_expect(sfb_live_table.map->flags & SFB_LIVE_BYPASSED);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 0);
    cr_expect_eq(sfb_live_table.map->unseen, 1);
    sfb_live_stop();
}

/* A free() in a signal handler is missed. Its block is unseen, but nothing bypasses the agent. */
Test(table, takes_no_missed_free_for_a_bypass)
{
    static _Alignas(16) char memory[256];
    const struct sfb_regs caller = { .pc = 0x12340 };
    struct sfb_live_sum sum;

    sfb_live_reads_fresh = true;
    table_begin(4 * MIB);
    sfb_live_allocated(memory, 100, 120, &caller);
    sfb_live_missed();
    sfb_live_allocated(memory, 90, 120, &caller);
    cr_expect(!(sfb_live_table.map->flags & SFB_LIVE_BYPASSED));
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 1);
    sum_free(&sum);
    sfb_live_stop();
}

/* A large block that was freed past the agent leaves its slot, whatever comes to its place. */
Test(table, takes_back_the_slot_of_a_large_block_that_was_bypassed)
{
    static _Alignas(16) char memory[2 * SFB_LIVE_LARGE];
    const struct sfb_regs caller = { .pc = 0x12340 };
    struct sfb_live_sum sum;

    sfb_live_bypassed();
    table_begin(4 * MIB);
    for (size_t size = 100; size <= SFB_LIVE_LARGE; size += SFB_LIVE_LARGE - 100) {
        sfb_live_allocated(memory, SFB_LIVE_LARGE, SFB_LIVE_LARGE, &caller);
        sfb_live_allocated(memory, size, size + SFB_LIVE_TAIL, &caller);
        sum = sum_now();
        cr_expect_eq(sum.all.samples, 1, "%zu", size);
        cr_expect_eq(sum.all.bytes, (double)size);
        sum_free(&sum);
        sfb_live_freed(memory, size + SFB_LIVE_TAIL);
    }
    cr_expect_eq(sfb_live_table.map->unseen, 2);
    sfb_live_stop();
}

/* A free() looks at 4,096 slots. An overrun of a byte it finds in any table. */
Test(table, looks_at_some_slots_of_a_large_one)
{
    enum { MANY = 9 * 4096 + 1000, EACH = 16 };
    const struct sfb_regs caller = { .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
                                     .sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),
                                     .fp = *(uint64_t *)__builtin_frame_address(0) };
    char *const blocks = malloc((size_t)MANY * EACH);
    const struct sfb_live_counts *counts;
    void *const before = malloc(100);
    struct sfb_live_sum sum;
    char *p;

    cr_assert(blocks);
    memset(before, 0, malloc_usable_size(before));
    table_begin(64 * MIB);
    counts = &sfb_live_table.map->counts;
    for (size_t i = 0; i < MANY; i++)
        sfb_live_allocated(blocks + i * EACH, EACH - SFB_LIVE_TAIL, EACH, &caller);
    cr_assert_eq(counts->no_slot, 0);
    block_free(before); /* its tail says 0: its slot would be one of the first */
    cr_expect(counts->unidentified == 1 && counts->foreign == 0);
    p = blocks + (size_t)(MANY - 1) * EACH;
    memset(p + EACH - SFB_LIVE_TAIL, 0, 1);
    sfb_live_freed(p, EACH);
    cr_expect_eq(counts->overruns, 1);
    cr_expect(counts->unidentified == 1 && counts->foreign == 0);
    p = blocks + 20000 * EACH;
    memset(p + EACH - SFB_LIVE_TAIL, 'x', SFB_LIVE_TAIL);
    sfb_live_freed(p, EACH);
    cr_expect(counts->unidentified == 2 && counts->overruns == 1);
    p = blocks + 25000 * EACH;
    memset(p + EACH - SFB_LIVE_TAIL, 0, SFB_LIVE_TAIL);
    sfb_live_freed(p, EACH);
    cr_expect(counts->unidentified == 3 && counts->overruns == 1);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, MANY - 1);
    sum_free(&sum);
    sfb_live_stop();
    free(blocks);
}

/* An allocator that is not ready yet may say 0 of its first blocks. */
Test(table, writes_no_tail_where_there_is_no_room)
{
    const struct sfb_regs caller = { .pc = (uint64_t)(uintptr_t)__builtin_return_address(0) };
    uint32_t words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    struct sfb_live_sum sum;

    table_begin(4 * MIB);
    sfb_live_allocated(&words[4], 12, 0, &caller);
    sfb_live_allocated(&words[4], 12, 12, &caller);
    for (uint32_t i = 0; i < 8; i++)
        cr_expect_eq(words[i], i + 1);
    cr_expect_eq(sfb_live_table.map->counts.no_slot, 2);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 0);
    sum_free(&sum);
    sfb_live_stop();
}

Test(table, keeps_a_block_that_realloc_could_not_move)
{
    struct sfb_live_move move;
    struct sfb_live_sum sum;
    void *p;

    table_begin(4 * MIB);
    p = block_new(100);
    sfb_live_moving(&move, p, malloc_usable_size(p));
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 0, "nobody sees it meanwhile");
    sum_free(&sum);
    sfb_live_stayed(&move);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 1);
    sum_free(&sum);
    block_free(p);
    cr_expect_eq(sfb_live_table.map->counts.foreign, 0);
    sfb_live_stop();
}

static int looked_again;

static bool look_again(void *user, uint32_t index, struct sfb_live_slot *out)
{
    (void)user;
    (void)index;
    (void)out;
    looked_again++;
    return false;
}

/* Not block by block: the first answer is that of all. */
Test(table, leaves_the_tails_of_a_process_that_ends_meanwhile)
{
    struct sfb_live_tails *tails = calloc(1, sizeof *tails);
    siginfo_t info;
    pid_t pid = fork();

    cr_assert(tails && pid >= 0);
    if (pid == 0)
        _exit(0);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    sfb_live_tails_begin(tails, pid);
    tails->again = look_again;
    for (uint32_t i = 1; i < 3 * SFB_LIVE_TAILS_AT_ONCE; i++)
        sfb_live_tails_add(
            tails, i,
            (struct sfb_live_slot){ 0x10000 + (uint64_t)i * 4096, sfb_live_what(0, 0, 0, 100) });
    sfb_live_tails_end(tails);
    cr_expect(tails->gone);
    cr_expect_eq(looked_again, 0, "%d", looked_again);
    cr_expect_eq(tails->checked, 0);
    cr_expect_eq(tails->unreadable, 3 * SFB_LIVE_TAILS_AT_ONCE - 1);
    waitpid(pid, NULL, 0);
    free(tails);
}

Test(table, has_room_for_any_size_in_a_slot)
{
    static const struct {
        uint64_t size, want;
    } cases[] = {
        { 0, 0 },
        { 4097, 4097 },
        { ((uint64_t)1 << 31) - 1, ((uint64_t)1 << 31) - 1 },
        { (uint64_t)1 << 31, (uint64_t)1 << 31 },
        { ((uint64_t)3 << 30) + 1, ((uint64_t)3 << 30) + 4096 }, /* whole pages */
        { (uint64_t)1 << 60, ((uint64_t)1 << 43) - 4096 },       /* the largest */
        { UINT64_MAX, ((uint64_t)1 << 43) - 4096 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t what = sfb_live_what(7 << 3 | 5, 2, 9, cases[i].size);

        cr_expect_eq(sfb_live_size_of(what), cases[i].want, "case %zu", i);
        cr_expect_eq(sfb_live_stack_of(what), 7);
        cr_expect_eq(sfb_live_generation_of(what), 5);
        cr_expect_eq(sfb_live_level_of(what), 2);
        cr_expect_eq(sfb_live_era_of(what), 9);
    }
}

Test(table, finds_the_tail_of_any_size)
{
    static const struct {
        uint64_t size, usable;
        bool known;
    } cases[] = {
        { 0, 8, true },
        { 1, 24, true },
        { 100, 40000, true }, /* slack above 32 KiB, and no pages */
        { 100, 32768 + 104, false },
        { 1000001, 1048576, true }, /* a size class of jemalloc */
        { (uint64_t)40 << 30, (uint64_t)48 << 30, false },
        { (uint64_t)1 << 30, ((uint64_t)1 << 30) + ((uint64_t)64 << 20), true },
        { ((uint64_t)64 << 30) + 5, ((uint64_t)64 << 30) + 4096,
          false }, /* above what a slot holds */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t p = 0x7f1234560010;
        const uint64_t block = p | (uint64_t)sfb_live_slack(cases[i].size, cases[i].usable) << 48;
        const uint64_t at = sfb_live_tail_at(block, sfb_live_what(1, 0, 0, cases[i].size));
        const bool direct = cases[i].usable - cases[i].size - 4 < 0x8000;
        const bool known = cases[i].size < SFB_LIVE_SIZE_PAGES &&
                           (direct || cases[i].usable % 4096 == 0) &&
                           (direct || cases[i].usable - cases[i].size < (uint64_t)0x7fff * 4096);

        cr_expect_eq(at, known ? p + cases[i].usable - 4 : 0, "case %zu: %lx", i, (long)at);
        cr_expect_eq(sfb_live_address(block), p);
    }
}

/* --- the bound ------------------------------------------------------------------------------------ */

Test(table, samples_beyond_its_bound_and_says_so)
{
    enum { COUNT = 400000 };
    void **blocks = calloc(COUNT, sizeof *blocks);
    double bytes = 0, sigma;
    struct sfb_live_sum sum;
    uint64_t seed = 4711;
    const struct sfb_live *map;

    cr_assert(blocks);
    table_begin(2 * MIB);
    map = sfb_live_table.map;
    for (int i = 0; i < COUNT; i++) {
        const size_t size = draw(&seed) % 3000;

        blocks[i] = block_new(size);
        bytes += (double)size;
    }
    sum = sum_now();
    sigma = sqrt(sum.all.bytes_variance);
    cr_expect(map->level_most >= 1 && map->counts.unsampled > COUNT / 2, "%u, %lu", map->level_most,
              (long)map->counts.unsampled);
    cr_expect_eq(map->counts.no_slot, 0, "%lu", (long)map->counts.no_slot);
    cr_expect(sum.all.samples < map->slot_room && sigma > 0, "%lu", (long)sum.all.samples);
    cr_expect(fabs(sum.all.bytes - bytes) < 5 * sigma, "%.0f of %.0f, sigma %.0f", sum.all.bytes,
              bytes, sigma);
    cr_expect(fabs(sum.all.blocks - COUNT) < 5 * sqrt(sum.all.blocks_variance));
    sum_free(&sum);
    for (int i = 0; i < COUNT; i++)
        block_free(blocks[i]);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 0);
    cr_expect_eq(map->counts.foreign + map->counts.overruns + map->counts.unidentified, 0);
    sum_free(&sum);
    blocks[0] = block_new(5);
    blocks[1] = block_new(5);
    cr_expect_eq(map->level, 0, "room again");
    block_free(blocks[0]);
    block_free(blocks[1]);
    sfb_live_stop();
    free(blocks);
}

Test(table, estimates_without_a_bias)
{
    static const uint64_t sizes[] = { 0, 10, 5000, 524288, 10000000 };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t level = 1; level <= SFB_LIVE_LEVELS; level++) {
            const double x = ((double)sizes[i] + 1) / (double)SFB_LIVE_RATE(level);

            cr_expect(fabs(sfb_live_probability(sizes[i], level) / -expm1(-x) - 1) < 1e-9,
                      "%lu at %u", (long)sizes[i], level);
        }
    for (uint64_t random = 1; random != 0; random *= 3) {
        const double u = ((double)(random >> 11) + 1) / 9007199254740992.0;

        cr_assert(fabs(sfb_minus_log(random) + log(u)) < 1e-12 * (1 - log(u)), "%lx", (long)random);
        if (random > UINT64_MAX / 4)
            break;
    }
}

/* What the author of splitmix64 computes from this seed. */
Test(table, draws_random_numbers)
{
    static const uint64_t want[] = { UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                     UINT64_C(9817491932198370423), UINT64_C(4593380528125082431) };
    uint64_t state = 1234567;

    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect_eq(sfb_random_next(&state), want[i], "number %zu", i);
}

/* --- dumps ---------------------------------------------------------------------------------------- */

static uint32_t stop;

static void *churn(void *with)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        run_model(with);
    return NULL;
}

Test(table, is_dumped_while_four_threads_allocate)
{
    static struct model models[THREADS];
    const int fd = open("/dev/null", O_WRONLY);
    pthread_t threads[THREADS];

    table_begin(16 * MIB);
    for (int i = 0; i < THREADS; i++) {
        models[i].seed = 99 + (uint64_t)i * 31;
        cr_assert_eq(pthread_create(&threads[i], NULL, churn, &models[i]), 0);
    }
    for (int i = 0; i < 60; i++) {
        struct sfb_live_sum sum = sum_now();
        struct sfb_live_tails *tails = tails_now(&sum);

        cr_expect_eq(tails->overruns, 0, "a block that is freed meanwhile is no overrun");
        cr_expect_eq(sum.bad, 0);
        cr_expect(sum.all.samples <= THREADS * BLOCKS);
        cr_expect_eq(sfb_live_dump(fd, i % 2), SFB_OK);
        free(tails);
        sum_free(&sum);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_null(models[i].wrong, "%s", models[i].wrong);
    }
    close(fd);
    sfb_live_stop();
}

static void *dump_into(void *with)
{
    const int fd = *(const int *)with;

    while (sfb_live_dump(fd, false) != SFB_OK)
        continue; /* the other thread was at it */
    close(fd);
    return NULL;
}

/* A dump that goes on in the parent is none of the child's. */
Test(table, is_dumped_in_a_child_that_was_made_beside_a_dump)
{
    enum { CHILD_BLOCKS = 100 };
    const int nowhere = open("/dev/null", O_WRONLY);
    char bytes[4096] = "";
    int pipe_of[2], status;
    pthread_t thread;
    pid_t child;

    table_begin(4 * MIB);
    block_new(10);
    cr_assert_eq(pipe(pipe_of), 0);
    cr_assert_geq(fcntl(pipe_of[1], F_SETPIPE_SZ, sizeof bytes), 0);
    cr_assert_eq(write(pipe_of[1], bytes, sizeof bytes), sizeof bytes);
    cr_assert_eq(pthread_create(&thread, NULL, dump_into, &pipe_of[1]), 0);
    while (sfb_live_dump(nowhere, false) == SFB_OK)
        continue;
    child = fork();
    if (child == 0) {
        sfb_live_continue_in_child(); /* as the agent's handler of fork() does */
        for (int i = 0; i < CHILD_BLOCKS; i++)
            block_new(10);
        status = sfb_live_is_on() && sfb_live_dump(nowhere, false) == SFB_OK ? 0 : 1;
        sfb_live_stop(); /* with its file */
        _exit(status);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    while (read(pipe_of[0], bytes, sizeof bytes) > 0)
        continue;
    pthread_join(thread, NULL);
    close(pipe_of[0]);
    close(nowhere);
    sfb_live_stop();
}

/* --- the file ------------------------------------------------------------------------------------- */

Test(table, has_a_file_of_its_own_user_that_goes_at_the_end)
{
    struct stat file;
    char path[512];

    table_begin(4 * MIB);
    snprintf(path, sizeof path, "%s", sfb_live_map_path());
    cr_assert_eq(stat(path, &file), 0, "%s", path);
    cr_expect_eq(file.st_mode & 07777, 0600);
    cr_expect_eq(file.st_size, 4 << 20);
    cr_expect(strstr(path, SFB_LIVE_FILE));
    sfb_live_end();
    cr_expect_neq(stat(path, &file), 0);
    sfb_live_stop();
}

Test(table, is_private_where_no_file_can_be_made)
{
    const struct rlimit limit = { 1 << 20, 1 << 20 };
    struct sfb_live_sum sum;
    void *p;

    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0); /* ulimit -f: no file that large */
    table_begin(4 * MIB);
    cr_expect_str_eq(sfb_live_map_path(), "");
    cr_expect(sfb_live_table.map->flags & SFB_LIVE_PRIVATE);
    p = block_new(7);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 1);
    sum_free(&sum);
    block_free(p);
    sfb_live_stop();
}

/* --- children ------------------------------------------------------------------------------------- */

/* Exit status 0: all is as it should be. */
static int be_a_child(void *inherited, bool told_of_fork)
{
    char path[512];

    snprintf(path, sizeof path, "%s", sfb_live_map_path());
    if (told_of_fork)
        sfb_live_continue_in_child();
    if (sfb_live_is_on())
        return 1;
    block_free(inherited); /* the parent's slot is not touched */
    for (int i = 0; i < 1000; i++)
        if (!block_new((size_t)i))
            return 2;
    if (!sfb_live_is_on() || sfb_live_table.map->pid != (uint32_t)getpid())
        return 3;
    if (strcmp(path, sfb_live_map_path()) == 0 || access(path, F_OK) != 0 ||
        access(sfb_live_map_path(), F_OK) != 0)
        return 4;
    {
        struct sfb_live_sum sum = sum_now();

        if (sum.all.samples < 900 || sum.all.samples >= 1000) /* but for its first ones */
            return 5;
    }
    sfb_live_end();
    return 0;
}

static bool is_held(int fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* The lock is the mapping's: no descriptor holds it, and a child that lives on does not keep it. */
Test(table, has_a_lock_for_as_long_as_its_process_maps_it)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int pipes[2][2], file, status;
    char byte;
    pid_t child;

    table_begin(4 * MIB);
    file = open(sfb_live_map_path(), O_RDWR | O_CLOEXEC);
    cr_assert(file >= 0 && pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
    cr_expect(is_held(file));
    cr_expect(sfb_live_table.map->flags & SFB_LIVE_LOCKED);
    child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        sfb_live_continue_in_child();
        close(pipes[1][1]);
        if (write(pipes[0][1], "", 1) != 1)
            _exit(1);
        _exit(read(pipes[1][0], &byte, 1) == 0 ? 0 : 2);
    }
    cr_assert_eq(read(pipes[0][0], &byte, 1), 1);
    cr_expect(is_held(file));
    sfb_live_stop();
    cr_expect(!is_held(file));
    cr_expect_eq(fcntl(file, F_OFD_SETLK, &lock), 0);
    close(pipes[1][0]);
    close(pipes[1][1]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    close(file);
}

Test(table, of_a_child_is_its_own)
{
#ifdef SFB_EMULATED
    const int first =
        1; /* qemu-user knows no MADV_WIPEONFORK: a child that nobody tells does not find out */
#else
    const int first = 0;
#endif
    void *p;

    table_begin(4 * MIB);
    p = block_new(100);
    for (int told = first; told < 2; told++) {
        const pid_t pid = told ? fork() : _Fork();
        struct sfb_live_sum sum;
        int status;

        if (pid == 0)
            _exit(be_a_child(p, told));
        cr_assert(pid > 0);
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        cr_expect_eq(status, 0, "%d: %x", told, (unsigned)status);
        sum = sum_now();
        cr_expect_eq(sum.all.samples, 1);
        cr_expect_eq(sfb_live_table.map->counts.foreign, 0);
        sum_free(&sum);
    }
    block_free(p);
    sfb_live_stop();
}

/* Each child of fork() has one: most of what it costs is memory. */
Test(table, of_few_blocks_is_small)
{
    struct stat file;
    void *p[64];

    table_begin(64 * MIB);
    for (int i = 0; i < 64; i++)
        p[i] = block_new((size_t)i);
    sfb_live_lists_renew(false);
    cr_assert_eq(stat(sfb_live_map_path(), &file), 0);
    cr_expect_leq(file.st_blocks * 512, 160 << 10, "%ld KiB", (long)file.st_blocks / 2);
    for (int i = 0; i < 64; i++)
        block_free(p[i]);
    sfb_live_stop();
}

/* In a file system that is full the process would end. */
Test(table, does_not_look_at_slots_without_memory)
{
    struct sfb_live *map;
    void *p = malloc(100);
    const size_t usable = malloc_usable_size(p);
    unsigned char resident = 0;
    uint32_t tail;

    table_begin(64 * MIB);
    map = sfb_live_table.map;
    block_free(block_new(10));
    tail = map->slot_room - SFB_LIVE_PAGE;
    memcpy((char *)p + usable - sizeof tail, &tail, sizeof tail);
    sfb_live_freed(p, usable);
    cr_expect_eq(map->counts.foreign, 1);
    cr_assert_eq(
        mincore((void *)((uintptr_t)&sfb_live_table.slots[tail] & ~(uintptr_t)(SFB_LIVE_PAGE - 1)),
                SFB_LIVE_PAGE, &resident),
        0);
    cr_expect_eq(resident & 1, 0);
    free(p);
    sfb_live_stop();
}

/* --- it starts again ------------------------------------------------------------------------------ */

Test(table, begins_anew_after_it_was_stopped)
{
    void *old;
    struct sfb_live_sum sum;

    table_begin(4 * MIB);
    old = block_new(10);
    cr_expect_not(sfb_live_start(&(struct sfb_live_how){ .size = 4 * MIB }));
    sfb_live_stop();
    cr_expect_eq(block_usable(old), malloc_usable_size(old));
    block_free(old);
    old = block_new(10); /* allocated between the two: as foreign */
    table_begin(8 * MIB);
    block_free(old);
    cr_expect_eq(sfb_live_table.map->counts.foreign, 0, "it has a mark");
    old = block_new(11);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 1);
    sum_free(&sum);
    block_free(old);
    sfb_live_stop();
}

/* A realloc() begins with one table and ends with another: its slot is none of that one. */
Test(table, takes_no_slot_of_the_table_before)
{
    enum { MORE = 2 * SFB_LIVE_BATCH };
    struct sfb_live_move moved, stayed;
    struct sfb_live_sum sum;
    void *blocks[MORE], *p, *q;

    table_begin(4 * MIB);
    p = block_new(10);
    q = block_new(10);
    sfb_live_moving(&moved, p, malloc_usable_size(p));
    sfb_live_moving(&stayed, q, malloc_usable_size(q));
    sfb_live_stop();
    table_begin(4 * MIB);
    blocks[0] = block_new(10); /* this thread uses the new one */
    sfb_live_moved(&moved);
    sfb_live_stayed(&stayed);
    for (int i = 1; i < MORE; i++)
        blocks[i] = block_new(10);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, MORE, "%zu blocks have a slot", (size_t)sum.all.samples);
    sum_free(&sum);
    for (int i = 0; i < MORE; i++)
        block_free(blocks[i]);
    sum = sum_now();
    cr_expect_eq(sum.all.samples, 0);
    sum_free(&sum);
    free(p);
    free(q);
    sfb_live_stop();
}
