#include "report/strings.h"

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

bool report_strings_add(struct report_strings *strings, const char *text, uint32_t *out)
{
    const char *from = text ? text : "";
    char **slot;
    bool found;

    if (!report_index_find(&strings->index, hash(from, 0xcbf29ce484222325U),
                           hash(from, 0x9ae16a3b2f90404fU), (uint32_t)strings->all.count, out,
                           &found))
        return false;
    if (found)
        return true;
    slot = REPORT_NEXT(strings->all);
    if (!slot)
        return false;
    *slot = strdup(from);
    return *slot != NULL;
}

void report_strings_free(struct report_strings *strings)
{
    for (size_t i = 0; i < strings->all.count; i++)
        free(strings->all.at[i]);
    free(strings->all.at);
    report_index_free(&strings->index);
    *strings = (struct report_strings){ .all = { .count = 0 } };
}
