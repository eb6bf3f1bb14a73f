#include "report/functions.h"

#include <stdlib.h>
#include <string.h>

/* Two of these tell texts apart: 128 bits. */
static uint64_t hash(const char *text, uint64_t seed)
{
    uint64_t h = seed;

    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3U;
    return h ^ h >> 31;
}

bool report_functions_add(struct report_functions *functions, const char *name, const char *module,
                          uint32_t *out)
{
    const uint64_t a = hash(module, hash(name, 0xcbf29ce484222325U)),
                   b = hash(name, hash(module, 0x9ae16a3b2f90404fU));
    struct report_function *f;
    bool found;

    if (!report_index_find(&functions->index, a, b, (uint32_t)functions->all.count, out, &found))
        return false;
    if (found)
        return true;
    f = REPORT_NEXT(functions->all);
    if (!f)
        return false;
    f->name = strdup(name);
    f->module = strdup(module);
    return f->name && f->module;
}

void report_functions_free(struct report_functions *functions)
{
    for (size_t i = 0; i < functions->all.count; i++) {
        free(functions->all.at[i].name);
        free(functions->all.at[i].module);
    }
    free(functions->all.at);
    report_index_free(&functions->index);
    *functions = (struct report_functions){ .all = { .count = 0 } };
}
