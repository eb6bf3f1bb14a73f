/* What the functions of a program have allocated, as they know themselves. */
#ifndef HEAP_TRUTH_SUMS_H
#define HEAP_TRUTH_SUMS_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NOINLINE static __attribute__((noinline))

struct sum {
    uint64_t blocks, bytes, live_blocks, live_bytes;
};

struct use {
    const char *name;
    void (*function)(struct sum *sum);
};

#define USE(function)                                                                              \
    {                                                                                              \
#function, function                                                                        \
    }

static inline void sum_add(struct sum *sum, size_t size)
{
    sum->blocks++;
    sum->bytes += size;
    sum->live_blocks++;
    sum->live_bytes += size;
}

static inline void sum_free(struct sum *sum, size_t size)
{
    sum->live_blocks--;
    sum->live_bytes -= size;
}

static inline void sums_print(const struct use *uses, const struct sum *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", uses[i].name, sums[i].blocks,
               sums[i].bytes, sums[i].live_blocks, sums[i].live_bytes);
}

#endif
