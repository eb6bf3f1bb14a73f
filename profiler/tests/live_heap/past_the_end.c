/* Writes of 1 to 16 bytes past blocks of glibc: each is an overrun, and none turns the detection off. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/agent/live/neighbours.h"
#include "profiler/agent/live/unknown.h"
#include "profiler/tests/live_heap/blocks.h"
#include "support/compiler.h"
#include "unwind/process/pages.h"

#define MIB ((uint64_t)1 << 20)

enum { BLOCKS = 48, SPARE = 400, CHUNK = 0x20, SIZE = 20, TAIL_END = 24, MOST = 16 };

/* glibc's own judgement of what free() gets, as the agent makes it (profiler/agent/heap/usable.c). 0: no block */
static size_t usable_of(const void *p)
{
    uint64_t header;
    size_t size;

    memcpy(&header, (const void *)((uintptr_t)p - sizeof header), sizeof header);
    size = header & ~(uint64_t)7;
    if (size < 32 || size > MIB || !sfb_page_probe((uintptr_t)p + size - 9))
        return 0;
    if (header & 2)
        return size - 16;
    return size % 16 == 0 ? size - 8 : 0;
}

static bool has_glibc(void)
{
    char *const p = malloc(SIZE);
    bool has;

    memset(p, 0, SIZE);
    has = !sanitized() && usable_of(p) == malloc_usable_size(p);

    free(p);
    return has;
}

/* Blocks that lie one behind the other. */
static bool make_row(char *row[BLOCKS])
{
    int found = 0;

    for (int i = 0; i < SPARE && found < BLOCKS; i++) {
        char *const p = block_new(SIZE);

        if (found > 0 && p != row[found - 1] + CHUNK)
            found = 0;
        row[found++] = p;
    }
    return found == BLOCKS;
}

struct counted {
    uint64_t overruns, headers, unclear, foreign, flags;
    uint64_t
        changed; /* blocks with other bytes in their tail: a tail may have had those that are written */
};

/* The child's memory is damaged: no block gets to free(). */
static void count_in_child(int to, const unsigned char *bytes, size_t past, int first, int step)
{
    struct counted c;
    uint64_t changed = 0;
    char *row[BLOCKS] = { NULL };

    sfb_live_has_headers = true;
    table_begin(4 * MIB);
    if (!make_row(row))
        _exit(3);
    for (int i = first; i < BLOCKS - 1; i += step) {
        char *const tail = row[i] + TAIL_END - SFB_LIVE_TAIL;

        changed += memcmp(tail, bytes, past < SFB_LIVE_TAIL ? past : SFB_LIVE_TAIL) != 0;
        memcpy(tail, bytes, past);
    }
    for (int i = 0; i < BLOCKS; i++)
        sfb_live_freed(row[i], usable_of(row[i]));
    c = (struct counted){ sfb_live_table.map->counts.overruns,
                          sfb_live_table.map->headers,
                          sfb_live_table.map->counts.unidentified,
                          sfb_live_table.map->counts.foreign,
                          sfb_live_table.map->flags,
                          changed };
    sfb_live_stop();
    _exit(write(to, &c, sizeof c) == sizeof c ? 0 : 4);
}

static struct counted count(const unsigned char *bytes, size_t past, int first, int step)
{
    struct counted c = { .overruns = 0 };
    int ends[2], status = 0;
    pid_t child;

    cr_assert_eq(pipe(ends), 0);
    child = fork();
    if (child == 0)
        count_in_child(ends[1], bytes, past, first, step);
    close(ends[1]);
    cr_assert_eq(read(ends[0], &c, sizeof c), (ssize_t)sizeof c);
    close(ends[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    return c;
}

/* 0x41 is the size of two of these chunks, 0x21 of one: words that an overrun wrote may look right. */
static const unsigned char fills[][MOST] = {
    "AAAAAAAAAAAAAAA",
    "xxxxxxxxxxxxxxx",
    { 0 },
    { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
    { 1, 2, 3, 4, 0x41, 0, 0, 0 },
    { 1, 2, 3, 4, 0x61, 0 },
    { 1, 2, 3, 4, 0x11, 0x10 },
};

Test(past_the_end, is_an_overrun_however_many_bytes_are_written)
{
    static const struct {
        int first, step, overrun;
    } rows[] = { { 5, BLOCKS, 1 }, { 1, 2, (BLOCKS - 1) / 2 }, { 0, 5, (BLOCKS + 3) / 5 } };

    if (!has_glibc())
        cr_skip_test("the allocator stores no sizes before blocks as glibc does");
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
        for (size_t past = 1; past <= MOST; past++)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                const struct counted c = count(fills[f], past, rows[r].first, rows[r].step);
                const uint64_t all = (uint64_t)rows[r].overrun;

                cr_expect(!(c.flags & SFB_LIVE_BYPASSED), "fill %zu, %zu bytes, row %zu", f, past,
                          r);
                cr_expect_eq(c.overruns, c.changed, "fill %zu, %zu bytes, row %zu: %d", f, past, r,
                             (int)c.overruns);
                /* The block behind: its size is overwritten, or not known to be, unless the bytes are the right ones. */
                cr_expect_eq(c.headers + c.unclear, past > SFB_LIVE_TAIL ? all : 0,
                             "fill %zu, %zu bytes, row %zu: %d and %d", f, past, r, (int)c.headers,
                             (int)c.unclear);
                cr_expect_eq(c.foreign, 0);
            }
}

/* Each block is overrun into the next one: of the first the tail tells, of the others the size, as far as anything does. */
Test(past_the_end, of_all_blocks_at_once_is_no_bypass)
{
    if (!has_glibc())
        cr_skip_test("the allocator stores no sizes before blocks as glibc does");
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
        for (size_t past = 1; past <= MOST; past++) {
            const struct counted c = count(fills[f], past, 0, 1);

            cr_expect(!(c.flags & SFB_LIVE_BYPASSED), "fill %zu, %zu bytes", f, past);
            cr_expect(c.overruns >= 1 && c.overruns + c.headers + c.unclear >= c.changed,
                      "fill %zu, %zu bytes: %d, %d, %d", f, past, (int)c.overruns, (int)c.headers,
                      (int)c.unclear);
        }
}

/* A large block without room for a tail: what tells is the block behind it. */
Test(past_the_end, of_a_large_block_without_a_tail_is_seen_at_the_next_block)
{
    enum { NO_ROOM = SFB_LIVE_LARGE + 8, TRIES = 64, NEXT = NO_ROOM + 8 };
    char *p = NULL, *next = NULL;

    if (!has_glibc())
        cr_skip_test("the allocator stores no sizes before blocks as glibc does");
    sfb_live_has_headers = true;
    table_begin(4 * MIB);
    for (int i = 0; i < TRIES && (!p || next != p + NEXT); i++) {
        p = block_new(NO_ROOM);
        next = block_new(100);
    }
    cr_assert(next == p + NEXT && malloc_usable_size(p) == NO_ROOM);
    memset(next - 8, 'x', 8);
    sfb_live_freed(p, NO_ROOM);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 0);
    sfb_live_freed(next, usable_of(next));
    cr_expect_eq(sfb_live_table.map->headers, 1);
    cr_expect_eq(sfb_live_table.map->counts.overruns, 0);
    sfb_live_stop();
}

/* --- later blocks, from past the agent ------------------------------------------------------------ */

enum { LARGE = 2000, LARGE_CHUNK = 2016, SMALL = 1500 };

/* A block of the table, and behind it one or two that it does not know. The last one keeps the others from the free end. */
struct group {
    char *own, *next, *last;
};

static struct group make_group(void)
{
    enum { TRIES = 64 };

    for (int i = 0; i < TRIES; i++) {
        char *const own = block_new(LARGE), *const next = malloc(LARGE),
                    *const last = malloc(LARGE);

        if (next - own == LARGE_CHUNK && last - next == LARGE_CHUNK)
            return (struct group){ own, next, last };
    }
    cr_assert_fail("no three blocks lie one behind the other");
    abort();
}

static struct sfb_live *begin(void)
{
    sfb_live_has_headers = true;
    table_begin(4 * MIB);
    return sfb_live_table.map;
}

/* When the allocator joined the two, it wrote over the old end and the old tail. */
Test(past_the_end, a_later_block_that_grew_is_known)
{
    struct sfb_live *map;
    struct group g;
    char *again;

    if (!has_glibc())
        cr_skip_test("the allocator stores no sizes before blocks as glibc does");
    map = begin();
    g = make_group();
    free(g.own);
    free(g.next);
    again = malloc((size_t)2 * LARGE);
    cr_assert_eq(again, g.own, "the allocator gives out the same memory");
    sfb_live_freed(again, malloc_usable_size(again));
    cr_expect(map->flags & SFB_LIVE_BYPASSED);
    cr_expect(map->counts.overruns == 0 && map->headers == 0 && map->unseen == 1);
    sfb_live_stop();
}

Test(past_the_end, a_later_block_that_is_a_part_is_known)
{
    struct sfb_live *map;
    struct group g;
    char *again;

    if (!has_glibc())
        cr_skip_test("the allocator stores no sizes before blocks as glibc does");
    map = begin();
    g = make_group();
    free(g.own);
    again = malloc(SMALL);
    cr_assert_eq(again, g.own, "the allocator gives out the same memory");
    sfb_live_freed(again, malloc_usable_size(again));
    cr_expect(map->flags & SFB_LIVE_BYPASSED);
    cr_expect(map->counts.overruns == 0 && map->headers == 0 && map->unseen == 1);
    sfb_live_stop();
}
