#include "contrib/lws/lws_sums.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

static int compare_stacks(const void *a, const void *b)
{
    const struct lws_sum *x = a, *y = b;

    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return memcmp(x->frames, y->frames, x->depth * sizeof *x->frames);
}

static int compare_bytes(const void *a, const void *b)
{
    const struct lws_sum *x = *(struct lws_sum *const *)a, *y = *(struct lws_sum *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->blocks != y->blocks)
        return x->blocks > y->blocks ? -1 : 1;
    return compare_stacks(x, y);
}

static void add(uint64_t *sum, uint64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = UINT64_MAX;
}

/* @return false: no memory */
static bool keep(struct lws_sums *s, struct lws_sum *sum)
{
    if (!array_make_room(&s->all, s->count, &s->room, sizeof *s->all))
        return false;
    s->all[s->count++] = sum;
    return true;
}

bool lws_sums_add(struct lws_sums *s, const struct lws_note *note)
{
    const size_t size = note->depth * sizeof *note->frames;
    struct lws_sum *sum = malloc(sizeof *sum + size), **found;

    if (!sum)
        return false;
    *sum = (struct lws_sum){ .depth = note->depth };
    memcpy(sum->frames, note->frames, size);
    found = tsearch(sum, &s->tree, compare_stacks);
    if (!found || (*found == sum && !keep(s, sum))) {
        if (found)
            tdelete(sum, &s->tree, compare_stacks);
        free(sum);
        return false;
    }
    if (*found != sum)
        free(sum);
    sum = *found;
    add(&sum->blocks, 1);
    add(&sum->bytes, note->size);
    add(&s->blocks, 1);
    add(&s->bytes, note->size);
    return true;
}

void lws_sums_sort(struct lws_sums *s)
{
    if (s->count > 1)
        qsort(s->all, s->count, sizeof(struct lws_sum *), compare_bytes);
}

static void leave(void *sum)
{
    (void)sum; /* freed with the others */
}

void lws_sums_free(struct lws_sums *s)
{
    tdestroy(s->tree, leave);
    for (size_t i = 0; i < s->count; i++)
        free(s->all[i]);
    free(s->all);
    *s = (struct lws_sums){ .tree = NULL };
}
