#include "chain.h"

#include <dlfcn.h>
#include <stdio.h>

#include "random.h"

static struct chain_loaded sets[CHAIN_SETS] = {
    [CHAIN_FP] = { .name = "fp", .frame_pointers = true },
    [CHAIN_NOFP] = { .name = "nofp" },
    [CHAIN_FP_BARE] = { .name = "fp", .frame_pointers = true },
    [CHAIN_NOFP_BARE] = { .name = "nofp" },
    [CHAIN_FP_HALF] = { .name = "fp", .frame_pointers = true },
    [CHAIN_NOFP_HALF] = { .name = "nofp" },
    [CHAIN_FP_PLUGIN] = { .name = "fp", .frame_pointers = true },
    [CHAIN_NOFP_PLUGIN] = { .name = "nofp" },
    [CHAIN_MANY] = { .name = "spread",
                     .parts = CHAIN_MANY_PARTS,
                     .part_functions = CHAIN_MANY_FUNCTIONS,
                     .run = 1 },
};

static const char *compiler = "unknown";

static const struct chain_part *load_part(const char *tables, const char *name, unsigned part)
{
    char path[4096];
    const struct chain_part *found = NULL;

    snprintf(path, sizeof path, "%s/chain-%s%s-%u.so", BENCH_CHAIN_DIR, name, tables, part);

    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL || (found = dlsym(handle, "chain_part")) == NULL) {
        fprintf(stderr, "bench: %s\n", dlerror());
        return NULL;
    }
    compiler = found->compiler;
    return found; /* cppcheck-suppress resourceLeak; it stays loaded to the end */
}

int chain_load(enum chain_set id)
{
    struct chain_loaded *set = &sets[id];
    bool all_bare = id == CHAIN_FP_BARE || id == CHAIN_NOFP_BARE;
    bool half_bare = id == CHAIN_FP_HALF || id == CHAIN_NOFP_HALF;
    bool plugin = id == CHAIN_FP_PLUGIN || id == CHAIN_NOFP_PLUGIN;

    set->parts = CHAIN_PARTS;
    set->part_functions = CHAIN_PART_FUNCTIONS;
    set->run = 4;
    for (unsigned p = 0; p < CHAIN_PARTS; p++) {
        bool bare = all_bare || (half_bare && p % 2 == 1);
        const struct chain_part *part = load_part(bare     ? "-bare"
                                                  : plugin ? "-plugin"
                                                           : "",
                                                  set->name, p);

        if (part == NULL) {
            return -1;
        }
        for (unsigned i = 0; i < CHAIN_PART_FUNCTIONS; i++) {
            set->functions[p * CHAIN_PART_FUNCTIONS + i] = part->functions[i];
            set->bare[p * CHAIN_PART_FUNCTIONS + i] = bare;
        }
    }
    return 0;
}

const char *chain_compiler(void)
{
    return compiler;
}

struct chain_loaded *chain_loaded(enum chain_set set)
{
    return &sets[set];
}

size_t chain_count(enum chain_set set)
{
    return (size_t)sets[set].parts * sets[set].part_functions;
}

void chain_order_make(struct chain_order *out, enum chain_set id, size_t count, unsigned seed)
{
    const struct chain_loaded *set = &sets[id];
    uint64_t state = seed;
    unsigned left[CHAIN_MANY_PARTS];  /* in each shared object */
    unsigned unused[CHAIN_FUNCTIONS]; /* the first of each shared object's are those left */
    unsigned part = 0;

    for (unsigned p = 0; p < set->parts; p++) {
        left[p] = set->part_functions;
    }
    for (unsigned i = 0; i < chain_count(id); i++) {
        unused[i] = i;
    }
    /*
     * Within a shared object the functions come in any order: callers and callees of a real program
     * are no neighbours either, and neighbours would share the cache lines of their tables.
     */
    for (size_t n = 0; n < count; n++) {
        if (n == 0 || random_below(&state, set->run) == 0) {
            part = (part + 1 + random_below(&state, set->parts - 1)) % set->parts;
        }
        while (left[part] == 0) {
            part = (part + 1) % set->parts;
        }

        unsigned *numbers = &unused[(size_t)part * set->part_functions];
        unsigned pick = random_below(&state, left[part]);

        out->numbers[n] = numbers[pick];
        out->functions[n] = set->functions[numbers[pick]];
        numbers[pick] = numbers[--left[part]];
    }
    out->set = id;
    out->count = count;
}

struct chain_order *chain_whole(enum chain_set set)
{
    static struct chain_order whole[CHAIN_SETS];
    enum { SEED = 2 };

    if (whole[set].count == 0) {
        chain_order_make(&whole[set], set, chain_count(set), SEED);
    }
    return &whole[set];
}

void chain_enter(struct chain_order *order, chain_function *leaf, struct batch *batch)
{
    struct chain chain = { .next = order->functions, .batch = batch };

    order->functions[order->count] = leaf;
    (*chain.next++)(&chain);
}
