/*
 * Prints what the counting interposer has counted, from its file.
 *
 *     counts FILE
 */
#include "counted.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME(name) #name,

static void print(const char *name, struct counted_sum sum)
{
    printf("%s %" PRIu64 " %" PRIu64 "\n", name, sum.blocks, sum.bytes);
}

int main(int argc, char **argv)
{
    static const char *const names[] = { COUNTED_PLAIN(NAME) COUNTED_NEW(NAME) };
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    struct counted c;

    if (file == NULL || fread(&c, sizeof c, 1, file) != 1) {
        fprintf(stderr,
                "counts: no counts of a process: it has not allocated, or has had no interposer\n");
        return 2;
    }
    fclose(file);
    if (c.full != 0) {
        fprintf(stderr, "counts: its table was full\n");
        return 2;
    }
    print("allocated", c.allocated);
    print("freed", c.freed);
    print("live", c.live);
    print("peak", c.peak);
    printf("reallocated %" PRIu64 "\nfailed %" PRIu64 "\nunknown %" PRIu64 "\ntwice %" PRIu64 "\n",
           c.reallocated, c.failed, c.unknown, c.twice);
    for (size_t i = 0; i < COUNTED_FUNCTIONS; i++)
        if (c.of[i].blocks != 0)
            print(names[i], c.of[i]);
    return 0;
}
