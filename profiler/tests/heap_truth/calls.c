/*
 * A program that calls each function that allocates, from a function of its own that knows how often and how much.
 *
 *     calls [no-pvalloc]
 *
 * Prints "FUNCTION BLOCKS BYTES LIVE-BLOCKS LIVE-BYTES" for each, then how often errno was ENOMEM, and
 * a block not aligned as asked. Exit status 1: an allocator did what it must not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sums.h"

enum { ROUNDS = 100 };

/* The compiler knows neither what these are nor that they allocate. */
static const volatile size_t huge = SIZE_MAX - 4096, zero;
static void *volatile kept;
static bool wrong;
static unsigned no_memory;  /* times that errno said so: mimalloc does not set it */
static unsigned misaligned; /* some of mimalloc's (2.0.9) are */

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "calls: line %d: not so: %s\n", __LINE__, #what);                      \
            wrong = true;                                                                          \
        }                                                                                          \
    } while (0)

/* Every fourth block stays. */
static void settle(struct sum *sum, void *p, size_t size, int round)
{
    if (p == NULL)
        abort();
    memset(p, 1, malloc_usable_size(p));
    sum_add(sum, size);
    if (round % 4 == 0)
        kept = p;
    else {
        free(p);
        sum_free(sum, size);
    }
}

/* The same, of a block that was asked for at a multiple of `alignment`. */
static void settle_at(struct sum *sum, void *p, size_t size, int round, size_t alignment)
{
    misaligned += (uintptr_t)p % alignment != 0;
    settle(sum, p, size, round);
}

NOINLINE void use_malloc(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++)
        settle(sum, malloc((size_t)i * 7), (size_t)i * 7, i);
}

NOINLINE void use_calloc(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++)
        settle(sum, calloc((size_t)i, 3), (size_t)i * 3, i);
}

NOINLINE void use_realloc(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *p = NULL, *more;
        size_t size = 0;

        for (int k = 1; k <= 8; k++) {
            if (k > 1)
                sum_free(sum, size);
            size = (size_t)(i * k) + 1;
            more = realloc(p, size);
            if (more == NULL)
                abort();
            p = more;
            if (k < 8)
                sum_add(sum, size);
        }
        settle(sum, p, size, i);
    }
}

NOINLINE void use_realloc_fails(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *volatile p = malloc(40);

        errno = 0;
        EXPECT(realloc(p, huge) == NULL);
        no_memory += errno == ENOMEM;
        settle(sum, p, 40, i);
    }
}

/* glibc frees the block; mimalloc gives another one of no size. */
NOINLINE void use_realloc_zero(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *volatile p = malloc(24);
        void *q = realloc(p, zero);

        sum_add(sum, 24);
        sum_free(sum, 24);
        if (q != NULL)
            settle(sum, q, 0, i);
    }
}

NOINLINE void use_reallocarray(struct sum *sum)
{
    for (int i = 1; i < ROUNDS; i++) {
        void *volatile p = reallocarray(NULL, (size_t)i, 5);
        void *more;

        errno = 0;
        EXPECT(reallocarray(p, huge, 16) == NULL);
        no_memory += errno == ENOMEM;
        sum_add(sum, (size_t)i * 5);
        sum_free(sum, (size_t)i * 5);
        more = reallocarray(p, (size_t)i, 9);
        settle(sum, more, (size_t)i * 9, i);
    }
}

NOINLINE void use_posix_memalign(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *p = NULL;
        const size_t alignment = (size_t)8 << i % 10;

        EXPECT(posix_memalign(&p, alignment, (size_t)i + 1) == 0);
        settle_at(sum, p, (size_t)i + 1, i, alignment);
    }
}

NOINLINE void use_aligned_alloc(struct sum *sum)
{
    for (int i = 1; i < ROUNDS; i++) {
        const size_t alignment = (size_t)16 << i % 9;
        void *p = aligned_alloc(alignment, alignment * (size_t)(i % 5 + 1));

        settle_at(sum, p, alignment * (size_t)(i % 5 + 1), i, alignment);
    }
}

NOINLINE void use_memalign(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *p = memalign(256, (size_t)i + 1);

        settle_at(sum, p, (size_t)i + 1, i, 256);
    }
}

NOINLINE void use_valloc(struct sum *sum)
{
    for (int i = 0; i < 10; i++) {
        void *p = valloc((size_t)i + 1);

        settle_at(sum, p, (size_t)i + 1, i, 4096);
    }
}

NOINLINE void use_pvalloc(struct sum *sum)
{
    for (int i = 0; i < 10; i++) {
        void *p = pvalloc((size_t)i + 1);

        settle_at(sum, p, (size_t)i + 1, i, 4096);
    }
}

/* The C library calls malloc() for its caller. */
NOINLINE void use_strdup(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++)
        settle(sum, strdup("as long as this"), sizeof "as long as this", i);
}

NOINLINE void use_strndup(struct sum *sum)
{
    for (int i = 0; i < ROUNDS; i++)
        settle(sum, strndup("as long as this, and more", 15), sizeof "as long as this", i);
}

NOINLINE void use_failures(struct sum *sum)
{
    void *p = &p;

    (void)sum;
    for (int i = 0; i < ROUNDS; i++) {
        errno = 0;
        EXPECT(malloc(huge) == NULL);
        no_memory += errno == ENOMEM;
        errno = 0;
        EXPECT(calloc(huge / 2, 3) == NULL);
        no_memory += errno == ENOMEM;
        EXPECT(memalign(64, huge) == NULL);
        EXPECT(posix_memalign(&p, 3, 10) == EINVAL && p == &p);
        EXPECT(posix_memalign(&p, 64, huge) == ENOMEM);
    }
}

/* C23's: glibc has them from 2.43 on, and the counting interposer everywhere. */
NOINLINE void use_free_sized(struct sum *sum)
{
    void (*sized)(void *, size_t) = NULL, (*aligned)(void *, size_t, size_t) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "free_sized");

    memcpy(&sized, &found, sizeof found);
    found = dlsym(RTLD_DEFAULT, "free_aligned_sized");
    memcpy(&aligned, &found, sizeof found);
    for (int i = 0; i < ROUNDS; i++) {
        void *p = malloc(33), *q = aligned_alloc(64, 128);

        sum_add(sum, 33);
        sum_add(sum, 128);
        sum_free(sum, 33);
        sum_free(sum, 128);
        if (sized != NULL && aligned != NULL) {
            sized(p, 33);
            aligned(q, 64, 128);
        } else {
            free(p);
            free(q);
        }
    }
}

static const struct use uses[] = {
    USE(use_malloc),       USE(use_calloc),       USE(use_realloc),        USE(use_realloc_fails),
    USE(use_realloc_zero), USE(use_reallocarray), USE(use_posix_memalign), USE(use_aligned_alloc),
    USE(use_memalign),     USE(use_valloc),       USE(use_strdup),         USE(use_failures),
    USE(use_free_sized),   USE(use_strndup),      USE(use_pvalloc),
};

int main(int argc, char **argv)
{
    const size_t count = sizeof uses / sizeof *uses;
    static struct sum sums[sizeof uses / sizeof *uses];

    /* jemalloc has no pvalloc(): free() would be given a block of glibc's. */
    const bool no_pvalloc = argc > 1 && strcmp(argv[1], "no-pvalloc") == 0;

    for (size_t i = 0; i < count - no_pvalloc; i++)
        uses[i].function(&sums[i]);
    sums_print(uses, sums, count - no_pvalloc);
    printf("errno %u\nmisaligned %u\n", no_memory, misaligned);
    return wrong;
}
