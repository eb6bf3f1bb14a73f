/*
 * What the counting interposer (counter.c) knows: a file that it maps and keeps up to date, so that it is true of a
 * process that was killed, too.
 */
#ifndef HEAP_TRUTH_COUNTED_H
#define HEAP_TRUTH_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the environment: the file. Without it the interposer only forwards. */
#define COUNTED_ENVIRONMENT "HEAP_TRUTH_COUNTED"

/* Functions that allocate, by the names that a linker knows. */
#define COUNTED_PLAIN(each)                                                                        \
    each(malloc) each(calloc) each(realloc) each(reallocarray) each(posix_memalign)                \
        each(aligned_alloc) each(memalign) each(valloc) each(pvalloc)
#define COUNTED_NEW(each)                                                                          \
    each(_Znwm) each(_Znam) each(_ZnwmRKSt9nothrow_t) each(_ZnamRKSt9nothrow_t)                    \
        each(_ZnwmSt11align_val_t) each(_ZnamSt11align_val_t)                                      \
            each(_ZnwmSt11align_val_tRKSt9nothrow_t) each(_ZnamSt11align_val_tRKSt9nothrow_t)
#define COUNTED_ONE(name) COUNTED_##name,

enum counted_function { COUNTED_PLAIN(COUNTED_ONE) COUNTED_NEW(COUNTED_ONE) COUNTED_FUNCTIONS };

struct counted_sum {
    uint64_t blocks, bytes;
};

struct counted {
    /* A successful realloc() of a block allocates one and frees one. */
    struct counted_sum allocated, freed, live, peak; /* peak: when live bytes were most */
    struct counted_sum of[COUNTED_FUNCTIONS];
    uint64_t failed;  /* calls that gave nothing */
    uint64_t unknown; /* frees of blocks that it has not seen */
    uint64_t reallocated;
    uint64_t twice; /* allocations of blocks that were live */
    uint64_t full;  /* blocks for which its table had no room: then nothing above is true */
};

/* A block that was freed. */
struct counted_block {
    const void *at;
    uint64_t size;
    bool known;
};

/*
 * Each under one lock: the order of calls is the order of events. A free is counted before the block is handed back, an
 * allocation when it was made. Before counted_begin() has found a file to write to nothing is counted.
 */
void counted_begin(void);
void counted_alloc(enum counted_function function, const void *p, size_t size);
struct counted_block counted_free(const void *p);
void counted_realloc(enum counted_function function, struct counted_block old, const void *p,
                     size_t size);

#endif
