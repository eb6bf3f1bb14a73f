/*
 * A pool allocator that knows who has its blocks, in C and in C++: the example of <sframe_backtrace_alloc.h>.
 *
 * Slots of four sizes, each from a slab of its own; free ones are a list; a lock around all. Every slot has at its end a
 * note of who asked for it. `pool_dump()` writes a line for each block in use.
 *
 *     pool_program [readme]    uses the pool, writes its lines, and the memory map to the file `maps`
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sframe_backtrace_alloc.h"

enum { CLASSES = 4, SLAB_SIZE = 1 << 16 };

static const size_t slot_sizes[CLASSES] = { 64, 128, 256, 1024 };

struct free_slot {
    struct free_slot *next;
};

static struct pool_class {
    struct free_slot *free;
    size_t count; /* slots that were ever used: those behind are new */
    unsigned char used[SLAB_SIZE / 64];
    unsigned char slab[SLAB_SIZE] __attribute__((aligned(16)));
} classes[CLASSES];

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

/* @return a slot that has no note yet; NULL: there is none */
static unsigned char *take_slot(struct pool_class *c, size_t size)
{
    unsigned char *slot = NULL;

    pthread_mutex_lock(&pool_lock);
    if (c->free) {
        slot = (unsigned char *)c->free;
        c->free = c->free->next;
    } else if ((c->count + 1) * size <= SLAB_SIZE) {
        slot = c->slab + c->count++ * size;
    }
    pthread_mutex_unlock(&pool_lock);
    return slot;
}

/* The smallest slot with room for the request and a note. The walk is outside of the lock. */
static void *pool_get(size_t requested)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    const size_t wanted = sframe_backtrace_alloc_size(requested, SFRAME_BACKTRACE_ALLOC_NOTE_MIN);

    options.skip = 1; /* pool_get() itself */
    for (int i = 0; wanted > 0 && i < CLASSES; i++) {
        unsigned char *slot =
            wanted <= slot_sizes[i] ? take_slot(&classes[i], slot_sizes[i]) : NULL;

        if (!slot)
            continue;
        sframe_backtrace_alloc_put(slot, slot_sizes[i], requested, &options);
        pthread_mutex_lock(&pool_lock); /* a dump sees blocks that have notes only */
        classes[i].used[(size_t)(slot - classes[i].slab) / slot_sizes[i]] = 1;
        pthread_mutex_unlock(&pool_lock);
        return slot;
    }
    return NULL;
}

static void pool_put(void *block)
{
    unsigned char *slot = (unsigned char *)block;

    for (int i = 0; i < CLASSES; i++) {
        struct free_slot *freed = (struct free_slot *)block;

        if (slot < classes[i].slab || slot >= classes[i].slab + SLAB_SIZE)
            continue;
        pthread_mutex_lock(&pool_lock);
        classes[i].used[(size_t)(slot - classes[i].slab) / slot_sizes[i]] = 0;
        freed->next = classes[i].free;
        classes[i].free = freed;
        pthread_mutex_unlock(&pool_lock);
    }
}

static void dump_slot(const unsigned char *slot, size_t size,
                      enum sframe_backtrace_alloc_dialect dialect)
{
    char line[SFRAME_BACKTRACE_ALLOC_LINE_SIZE];
    struct sframe_backtrace_alloc_note note;

    if (sframe_backtrace_alloc_find(&note, slot, size) != SFB_OK)
        printf("pool: a block of %zu bytes was written past its end\n", size);
    else if (sframe_backtrace_alloc_line(line, sizeof line, &note, dialect) > 0)
        printf("pool: %s\n", line);
}

static void pool_dump(enum sframe_backtrace_alloc_dialect dialect)
{
    pthread_mutex_lock(&pool_lock);
    for (int i = 0; i < CLASSES; i++)
        for (size_t k = 0; k < classes[i].count; k++)
            if (classes[i].used[k])
                dump_slot(classes[i].slab + k * slot_sizes[i], slot_sizes[i], dialect);
    pthread_mutex_unlock(&pool_lock);
}

/* --- Its user ----------------------------------------------------------------------------------- */

#if defined(__clang__)
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

KEPT static char *name_of(const char *text)
{
    char *name = (char *)pool_get(strlen(text) + 1);

    if (name)
        strcpy(name, text);
    return name;
}

KEPT static void *table_of(size_t rows)
{
    void *table = pool_get(rows * sizeof(int));

    if (table)
        memset(table, 0, rows * sizeof(int));
    return table;
}

KEPT static int use(void)
{
    char *names[3];
    volatile int count = 3; /* the loop stays one call */
    void *first = table_of(10), *second = table_of(40), *none = table_of(SIZE_MAX / sizeof(int));
    char *overrun;

    for (int i = 0; i < count; i++)
        names[i] = name_of("a name");
    pool_put(first);
    overrun = name_of("of a name that is written past its end");
    if (!names[2] || !second || none || !overrun)
        return 1;
    memset(overrun, 'x', 64);
    return 0;
}

static void copy_maps(void)
{
    FILE *from = fopen("/proc/self/maps", "r"), *to = fopen("maps", "w");

    for (int c; from && to && (c = getc(from)) != EOF;)
        putc(c, to);
    if (from)
        fclose(from);
    if (to)
        fclose(to);
}

int main(int argc, char **argv)
{
    const int status = use();

    copy_maps();
    pool_dump(argc > 1 && strcmp(argv[1], "readme") == 0 ? SFRAME_BACKTRACE_ALLOC_README
                                                         : SFRAME_BACKTRACE_ALLOC_LIBRARY);
    return status;
}
