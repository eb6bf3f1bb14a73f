/* A pool that knows which call took each block: a note at the end of the block has the backtrace. */
#include <sframe_backtrace_alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 16, BLOCK_SIZE = 128 };

/* One thread uses this pool: it has no lock. */
static _Alignas(16) uint8_t pool[BLOCKS][BLOCK_SIZE];
static bool used[BLOCKS];

static void *pool_get(size_t requested)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;

    options.skip = 1; /* pool_get() itself */
    for (int i = 0; i < BLOCKS; i++)
        if (!used[i] && sframe_backtrace_alloc_put(pool[i], BLOCK_SIZE, requested, &options) > 0) {
            used[i] = true;
            return pool[i];
        }
    return NULL; /* no block is free, or none has room for the request and a note */
}

static void pool_put(void *block)
{
    used[((uint8_t *)block - pool[0]) / BLOCK_SIZE] = false;
}

/* Writes a line for each block in use. */
static void pool_dump(FILE *log)
{
    for (int i = 0; i < BLOCKS; i++) {
        char line[SFRAME_BACKTRACE_ALLOC_LINE_SIZE];
        struct sframe_backtrace_alloc_note note;

        if (!used[i])
            continue;
        if (sframe_backtrace_alloc_find(&note, pool[i], BLOCK_SIZE) != SFB_OK)
            fprintf(log, "block %d was written past its end\n", i);
        else if (sframe_backtrace_alloc_line(line, sizeof line, &note,
                                             SFRAME_BACKTRACE_ALLOC_LIBRARY) > 0)
            fprintf(log, "block %d: %s\n", i, line);
    }
}

static char *name_of(const char *text)
{
    char *name = pool_get(strlen(text) + 1);

    return name ? strcpy(name, text) : NULL;
}

int main(void)
{
    char *first = name_of("first"), *second = name_of("second"), *third = name_of("third");

    pool_put(first);
    memset(third, 'x', BLOCK_SIZE); /* a bug: 6 bytes were asked for */
    pool_dump(stdout);
    return !second || system("cp /proc/$PPID/maps maps") != 0; /* which modules lie where */
}
