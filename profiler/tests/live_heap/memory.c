/* The live table where the file system has no room left. madvise() is this program's own: it says so. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/tests/live_heap/blocks.h"
#include "profiler/tests/live_heap/named.h"
#include "support/folder.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MIB ((uint64_t)1 << 20)

enum { BLOCKS = 400000, EACH = 48 };

static int asked, left = -1; /* calls that are granted; -1: all */

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int madvise(void *at, size_t size, int advice)
{
    if (advice == MADV_POPULATE_WRITE) {
        asked++;
        if (left == 0) {
            errno = ENOMEM;
            return -1;
        }
        left -= left > 0;
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}

static void enter(void)
{
    folder_enter();
    setenv("XDG_RUNTIME_DIR", folder_path(), 1);
}

TestSuite(memory, .init = enter, .fini = folder_remove);

/* Blocks of a slab: what the allocator maps is none of the test's. */
static char *fill(uint32_t blocks)
{
    const struct sfb_regs caller = { .pc = 0x12340 };
    char *slab = malloc((size_t)blocks * EACH);

    cr_assert(slab);
    for (uint32_t i = 0; i < blocks; i++)
        sfb_live_allocated(slab + (size_t)i * EACH, EACH - SFB_LIVE_TAIL, EACH, &caller);
    return slab;
}

/* Slots, stacks, buckets: one answer holds for all of them. */
Test(memory, that_is_refused_is_not_asked_for_at_each_block)
{
    char *slab, *more;
    uint64_t begin;

    table_begin(64 * MIB);
    slab = fill(10000);
    left = asked = 0;
    begin = sfb_now();
    more = fill(BLOCKS);
    cr_expect((uint64_t)asked <= 1 + (sfb_now() - begin) / 1000000000, "%d calls", asked);
    cr_expect(asked > 0);
    free(slab);
    free(more);
    sfb_live_stop();
}

Test(memory, that_is_refused_makes_the_table_sample)
{
    struct sfb_live_sum sum;
    struct sfb_live *map;
    char *slab, *more;
    double error;

    table_begin(64 * MIB);
    map = sfb_live_table.map;
    slab = fill(10000);
    left = 0;
    more = fill(BLOCKS);
    cr_expect(map->level_most > 0, "it does not sample");
    cr_expect(map->counts.unsampled > 0);
    cr_expect_eq(map->counts.no_slot, 0, "%zu samples have no slot", (size_t)map->counts.no_slot);
    sum = sum_now();
    cr_expect(sum.all.samples > 10000 && sum.all.bytes_variance > 0);
    error = fabs(sum.all.bytes - (10000.0 + BLOCKS) * (EACH - SFB_LIVE_TAIL));
    cr_expect_leq(error, 7 * sqrt(sum.all.bytes_variance), "%f", sum.all.bytes);
    sum_free(&sum);
    free(slab);
    free(more);
    sfb_live_stop();
}

/* Lists of modules that have their memory are renewed all the same. */
Test(memory, that_is_there_is_used)
{
    struct sfb_live *map;
    char *slab;

    table_begin(64 * MIB);
    map = sfb_live_table.map;
    slab = fill(10);
    left = 0;
    for (uint32_t i = 0; i < 100; i++)
        sfb_live_freed(named_new(20, i), 24);
    cr_expect_eq(map->counts.no_list, 0);
    free(slab);
    sfb_live_stop();
}
