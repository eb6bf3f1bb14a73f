#include "symbols/loaded_modules.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct loaded_module *x = *(struct loaded_module *const *)a;
    const struct loaded_module *y = *(struct loaded_module *const *)b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x < y ? -1 : x > y;
}

/*
 * Modules that are open at an address lie on a stack; the top one has it. `at` is the end of the
 * finished stretches.
 */
struct sweep {
    struct loaded_modules map;
    struct loaded_module **open;
    size_t depth;
    uint64_t at;
};

/* Makes stretches up to `end`. Each module leaves the stack once. */
static void sweep_to(struct sweep *s, uint64_t end)
{
    while (s->depth > 0 && s->at < end) {
        struct loaded_module *top = s->open[s->depth - 1];
        const uint64_t stop = top->end < end ? top->end : end;

        if (top->end > s->at) {
            s->map.stretches[s->map.count++] = (struct loaded_stretch){ s->at, stop, top };
            s->at = stop;
        }
        if (top->end <= s->at)
            s->depth--;
    }
    s->at = end;
}

struct object_module loaded_module_facts(const struct loaded_module *module)
{
    struct object_module facts = { .path = module->path,
                                   .root = module->root,
                                   .gone = module->gone,
                                   .image = module->image,
                                   .image_size = module->image_size };

    object_build_id_set(&facts.id, module->build_id, module->size);
    return facts;
}

bool loaded_modules_make(struct loaded_modules *out, struct loaded_module *modules, size_t count)
{
    struct loaded_module **sorted = calloc(count + 1, sizeof(struct loaded_module *));
    struct sweep s = { .open = calloc(count + 1, sizeof(struct loaded_module *)) };

    /* A stretch ends where a module ends or the next one starts. */
    s.map.stretches = calloc(2 * count + 1, sizeof *s.map.stretches);
    if (!sorted || !s.open || !s.map.stretches) {
        free(sorted);
        free(s.open);
        free(s.map.stretches);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = &modules[i];
    if (count > 0)
        qsort(sorted, count, sizeof(struct loaded_module *), by_start);
    for (size_t i = 0; i < count; i++) {
        sweep_to(&s, sorted[i]->start);
        s.open[s.depth++] = sorted[i];
    }
    sweep_to(&s, UINT64_MAX);
    free(sorted);
    free(s.open);
    *out = s.map;
    return true;
}

void loaded_modules_free(struct loaded_modules *map)
{
    free(map->stretches);
    *map = (struct loaded_modules){ .count = 0 };
}

struct loaded_module *loaded_modules_find(const struct loaded_modules *map, uint64_t address)
{
    size_t low = 0, high = map->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (map->stretches[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < map->count && map->stretches[low].start <= address)
        return map->stretches[low].module;
    return NULL;
}
