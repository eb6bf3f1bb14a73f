#include "util/index.h"

#include <stdlib.h>
#include <string.h>

struct report_index_entry {
    uint64_t a, b;
    uint32_t value; /* + 1; 0: free */
};

enum { FIRST = 256 };

static size_t slot_of(const struct report_index *index, uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15U;

    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9U;
    h ^= h >> 32;
    return (size_t)h & (index->room - 1);
}

/* @return the slot of a pair, or the free slot for it */
static struct report_index_entry *look(const struct report_index *index, uint64_t a, uint64_t b)
{
    size_t i = slot_of(index, a, b);

    while (index->at[i].value != 0 && (index->at[i].a != a || index->at[i].b != b))
        i = (i + 1) & (index->room - 1);
    return &index->at[i];
}

static bool grow(struct report_index *index)
{
    struct report_index larger = { .room = index->room ? 2 * index->room : FIRST,
                                   .count = index->count };

    larger.at = calloc(larger.room, sizeof *larger.at);
    if (!larger.at)
        return false;
    for (size_t i = 0; i < index->room; i++)
        if (index->at[i].value != 0)
            *look(&larger, index->at[i].a, index->at[i].b) = index->at[i];
    free(index->at);
    *index = larger;
    return true;
}

bool report_index_find(struct report_index *index, uint64_t a, uint64_t b, uint32_t next,
                       uint32_t *out, bool *found)
{
    struct report_index_entry *e;

    if (2 * index->count >= index->room && !grow(index))
        return false;
    e = look(index, a, b);
    *found = e->value != 0;
    if (!*found) {
        *e = (struct report_index_entry){ a, b, next + 1 };
        index->count++;
    }
    *out = e->value - 1;
    return true;
}

bool report_index_has(const struct report_index *index, uint64_t a, uint64_t b, uint32_t *out)
{
    const struct report_index_entry *e = index->room > 0 ? look(index, a, b) : NULL;

    if (!e || e->value == 0)
        return false;
    *out = e->value - 1;
    return true;
}

void report_index_clear(struct report_index *index)
{
    if (index->count > 0)
        memset(index->at, 0, index->room * sizeof *index->at);
    index->count = 0;
}

void report_index_free(struct report_index *index)
{
    free(index->at);
    *index = (struct report_index){ .count = 0 };
}
