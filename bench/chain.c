#include "chain.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const struct chain_part *parts[CHAIN_BUILDS][CHAIN_PARTS];

/* All functions of a build by address, to tell where an address lies. */
static struct place {
    uintptr_t start;
    unsigned number;
} places[CHAIN_BUILDS][CHAIN_FUNCTIONS];

static int by_start(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

int chain_load(enum chain_build build)
{
    for (unsigned p = 0; p < CHAIN_PARTS; p++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/chain-%s-%u.so", BENCH_CHAIN_DIR,
                 build == CHAIN_FP ? "fp" : "nofp", p);

        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

        if (handle == NULL || (parts[build][p] = dlsym(handle, "chain_part")) == NULL) {
            fprintf(stderr, "bench: %s\n", dlerror());
            return -1;
        }
        for (unsigned i = 0; i < CHAIN_PART_FUNCTIONS; i++) {
            unsigned number = p * CHAIN_PART_FUNCTIONS + i;

            places[build][number].start = (uintptr_t)parts[build][p]->functions[i];
            places[build][number].number = number;
        }
    }
    qsort(places[build], CHAIN_FUNCTIONS, sizeof(struct place), by_start);
    return 0;
}

const char *chain_compiler(void)
{
    return parts[CHAIN_FP][0]->compiler;
}

static unsigned below(uint64_t *state, unsigned limit)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)((*state >> 33) % limit);
}

void chain_order_make(struct chain_order *out, enum chain_build build, size_t count, unsigned seed)
{
    uint64_t state = seed;
    unsigned left[CHAIN_PARTS];
    unsigned unused[CHAIN_PARTS][CHAIN_PART_FUNCTIONS];
    unsigned part = 0;

    for (unsigned p = 0; p < CHAIN_PARTS; p++) {
        left[p] = CHAIN_PART_FUNCTIONS;
        for (unsigned i = 0; i < CHAIN_PART_FUNCTIONS; i++) {
            unused[p][i] = i;
        }
    }
    /*
     * Within a shared object the functions come in any order: callers and callees of a real program
     * are no neighbours either, and neighbours would share the cache lines of their tables.
     */
    for (size_t n = 0; n < count; n++) {
        if (n == 0 || below(&state, 4) == 0) {
            part = (part + 1 + below(&state, CHAIN_PARTS - 1)) % CHAIN_PARTS;
        }
        while (left[part] == 0) {
            part = (part + 1) % CHAIN_PARTS;
        }

        unsigned pick = below(&state, left[part]);
        unsigned function = unused[part][pick];

        unused[part][pick] = unused[part][--left[part]];
        out->functions[n] = parts[build][part]->functions[function];
        out->numbers[n] = part * CHAIN_PART_FUNCTIONS + function;
    }
    out->count = count;
}

void chain_enter(struct chain_order *order, chain_function *leaf, struct batch *batch)
{
    struct chain chain = { .next = order->functions, .batch = batch };

    order->functions[order->count] = leaf;
    (*chain.next++)(&chain);
}

unsigned chain_function_at(enum chain_build build, const void *address)
{
    unsigned lo = 0;
    unsigned hi = CHAIN_FUNCTIONS;

    while (lo < hi) {
        unsigned middle = lo + (hi - lo) / 2;

        if (places[build][middle].start <= (uintptr_t)address) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo == 0 ? CHAIN_FUNCTIONS : places[build][lo - 1].number;
}
