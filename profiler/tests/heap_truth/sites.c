/*
 * A program whose functions allocate known amounts, of sizes from 16 bytes to 1 MiB, for estimates to be compared with.
 *
 *     sites
 *
 * Prints "FUNCTION BLOCKS BYTES LIVE-BLOCKS LIVE-BYTES" for each.
 */
#include <stdlib.h>

#include "sums.h"

static void *volatile kept;

/* Of `every` blocks one stays. */
static inline void work(struct sum *sum, size_t size, uint64_t blocks, uint64_t every)
{
    for (uint64_t i = 0; i < blocks; i++) {
        void *p = malloc(size);

        if (p == NULL)
            abort();
        sum_add(sum, size);
        if (i % every == 0) {
            kept = p;
        } else {
            free(p);
            sum_free(sum, size);
        }
    }
}

#define SITE(name, size, blocks, every)                                                            \
    NOINLINE void name(struct sum *sum)                                                            \
    {                                                                                              \
        work(sum, size, blocks, every);                                                            \
    }

SITE(site_16, 16, 200000, 4)
SITE(site_100, 100, 100000, 4)
SITE(site_1000, 1000, 30000, 4)
SITE(site_10000, 10000, 4000, 4)
SITE(site_100000, 100000, 400, 4)
SITE(site_1000000, 1000000, 40, 4)
SITE(site_rare, 4096, 200, 1)

/* Sizes of one stack that differ. */
NOINLINE void site_mixed(struct sum *sum)
{
    for (unsigned i = 0; i < 1000; i++) {
        work(sum, 24, 10, 10);
        work(sum, 2000, 3, 3);
        work(sum, 30000, 1, 1000000);
    }
}

static const struct use uses[] = {
    USE(site_16),     USE(site_100),     USE(site_1000), USE(site_10000),
    USE(site_100000), USE(site_1000000), USE(site_rare), USE(site_mixed),
};

int main(void)
{
    static struct sum sums[sizeof uses / sizeof *uses];

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        uses[i].function(&sums[i]);
    sums_print(uses, sums, sizeof uses / sizeof *uses);
    return 0;
}
