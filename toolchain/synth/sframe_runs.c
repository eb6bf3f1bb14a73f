#include "toolchain/synth/sframe_runs.h"

#include <stdlib.h>
#include <string.h>

#include "util/fnv.h"
#include "util/grow.h"

struct sframe_run {
    size_t at, size; /* its bytes in the array of all */
    uint32_t row_count;
    uint64_t hash;
    size_t holder; /* the longest run that begins with it; itself, if none is longer */
    uint64_t position;
    bool placed;
};

uint8_t *sframe_runs_room(struct sframe_runs *r, size_t size)
{
    return array_make_room_for(&r->bytes, &r->bytes_capacity, r->size + size) ? r->bytes + r->size
                                                                              : NULL;
}

/* @return the slot of the run with these bytes, or the free slot for it */
static size_t *table_slot(const struct sframe_runs *r, uint64_t hash, const uint8_t *bytes,
                          size_t size)
{
    size_t i = (size_t)hash & (r->table_size - 1);

    for (;; i = (i + 1) & (r->table_size - 1)) {
        const struct sframe_run *run;

        if (r->table[i] == 0)
            return &r->table[i];
        run = &r->runs[r->table[i] - 1];
        if (run->hash == hash && run->size == size && memcmp(r->bytes + run->at, bytes, size) == 0)
            return &r->table[i];
    }
}

/* Keeps the table at most half full. */
static bool grow_table(struct sframe_runs *r)
{
    size_t size = r->table_size ? r->table_size * 2 : 256;

    if (r->count < r->table_size / 2)
        return true;
    free(r->table);
    r->table = calloc(size, sizeof *r->table);
    r->table_size = r->table ? size : 0;
    for (size_t i = 0; r->table && i < r->count; i++)
        *table_slot(r, r->runs[i].hash, r->bytes + r->runs[i].at, r->runs[i].size) = i + 1;
    return r->table != NULL;
}

bool sframe_runs_add(struct sframe_runs *r, size_t size, uint32_t row_count, size_t *out)
{
    const uint64_t hash = sfb_fnv(SFB_FNV_START, r->bytes + r->size, size);
    size_t *slot;

    if (!grow_table(r) || !array_make_room(&r->runs, r->count, &r->capacity, sizeof *r->runs))
        return false;
    slot = table_slot(r, hash, r->bytes + r->size, size);
    if (r->share && *slot != 0) {
        *out = *slot - 1;
        return true;
    }
    r->runs[r->count] = (struct sframe_run){
        .at = r->size, .size = size, .row_count = row_count, .hash = hash, .holder = r->count
    };
    *out = r->count++;
    *slot = r->count;
    r->size += size;
    return true;
}

/* Sorts a run right before the runs that begin with it. */
static int compare_runs(const void *a, const void *b, void *runs)
{
    const struct sframe_runs *r = runs;
    const struct sframe_run *x = &r->runs[*(const size_t *)a], *y = &r->runs[*(const size_t *)b];
    int order = memcmp(r->bytes + x->at, r->bytes + y->at, x->size < y->size ? x->size : y->size);

    if (order != 0)
        return order;
    return x->size < y->size ? -1 : x->size > y->size;
}

/* A run at the beginning of another one is not stored; only the bytes decide. */
bool sframe_runs_join(struct sframe_runs *r)
{
    size_t *order;

    if (!r->share)
        return true;
    order = calloc(r->count + 1, sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < r->count; i++)
        order[i] = i;
    qsort_r(order, r->count, sizeof *order, compare_runs, r);
    for (size_t i = r->count; i-- > 1;) {
        struct sframe_run *run = &r->runs[order[i - 1]];
        const struct sframe_run *next = &r->runs[order[i]];

        if (run->size <= next->size &&
            memcmp(r->bytes + run->at, r->bytes + next->at, run->size) == 0)
            run->holder = next->holder;
    }
    free(order);
    return true;
}

void sframe_runs_place(struct sframe_runs *r, size_t index, uint64_t *size, uint64_t *rows)
{
    struct sframe_run *run = &r->runs[r->runs[index].holder];

    if (run->placed)
        return;
    run->placed = true;
    run->position = *size;
    *size += run->size;
    *rows += run->row_count;
}

uint64_t sframe_runs_position(const struct sframe_runs *r, size_t index)
{
    return r->runs[r->runs[index].holder].position;
}

void sframe_runs_put(const struct sframe_runs *r, uint8_t *to)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->runs[i].placed)
            memcpy(to + r->runs[i].position, r->bytes + r->runs[i].at, r->runs[i].size);
}

void sframe_runs_free(struct sframe_runs *r)
{
    free(r->runs);
    free(r->table);
    free(r->bytes);
    *r = (struct sframe_runs){ .share = false };
}
