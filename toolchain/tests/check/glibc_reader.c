/*
 * glibc's own reader of .sframe on a section: its source is included, nothing of it is copied.
 *
 *     glibc_reader SECTION ADDRESS PC...
 *
 * Prints "refused" if it does not decode the header, or "found N of M": so many PCs have a row.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sframe-read.c"

int main(int argc, char **argv)
{
    static char section[1 << 24] __attribute__((aligned(8)));
    FILE *from = argc > 2 ? fopen(argv[1], "rb") : NULL;
    const unsigned long address = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
    sframe_decoder_ctx context;
    int found = 0;

    if (!from || fread(section, 1, sizeof section, from) < sizeof(sframe_header))
        return 2;
    fclose(from);
    if (__sframe_decode(&context, section) != _URC_NO_REASON) {
        puts("refused");
        return 0;
    }
    for (int i = 3; i < argc; i++) {
        sframe_frame_row_entry row;

        found += __sframe_find_fre(&context, (int32_t)(strtoul(argv[i], NULL, 0) - address),
                                   &row) == _URC_NO_REASON;
    }
    printf("found %d of %d\n", found, argc - 3);
    return 0;
}
