/*
 * For targets whose input has a structure that bytes turned at random seldom meet: a mutator of the target writes whole
 * records, of few names, so that one leads to another, and libFuzzer turns bytes in what it wrote.
 *
 * Behind FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION, which clang defines where libFuzzer drives a target.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* libFuzzer's: both sides. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

struct fuzz_random {
    uint64_t state;
};

static inline struct fuzz_random fuzz_random_of(unsigned seed)
{
    return (struct fuzz_random){ seed * UINT64_C(0x9e3779b97f4a7c15) | 1 };
}

/* @return a number below another */
static inline uint32_t fuzz_below(struct fuzz_random *r, uint32_t end)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (uint32_t)((r->state >> 20) % end);
}

static inline void fuzz_put64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

/*
 * Makes a piece anew: one of those there are, or one more.
 *
 * @param header  bytes in front of the pieces
 * @return where; NULL: there is no room. *size may grow
 */
static inline uint8_t *fuzz_piece(struct fuzz_random *r, uint8_t *data, size_t *size,
                                  size_t max_size, size_t header, size_t piece)
{
    const size_t count = *size > header ? (*size - header) / piece : 0;
    const size_t i = fuzz_below(r, (uint32_t)count + 1), at = header + i * piece;

    if (at + piece > max_size)
        return NULL;
    if (*size < at + piece) {
        memset(data + *size, 0, at + piece - *size);
        *size = at + piece;
    }
    return data + at;
}

#endif
