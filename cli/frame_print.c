#include "cli/frame_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/foreign.h"

static void print_function(void *user, const struct symbols_function *f)
{
    const struct frame_print *frame = user;
    char *name = f->name ? object_demangle(f->name, frame->names) : NULL;

    printf("#%" PRIu64 " 0x%" PRIx64 " ", frame->number, frame->address);
    foreign_print(stdout, name ? name : "?");
    free(name);
    if (f->name && !f->inlined)
        printf("+0x%" PRIx64, frame->address - f->start);
    if (f->file && f->line > 0) {
        printf(" (");
        foreign_print(stdout, f->file);
        printf(":%d)", f->line);
    }
    printf(f->inlined ? " inlined in " : " in ");
    foreign_print(stdout, f->module ? f->module : "?");
    putchar('\n');
}

void frame_print(struct symbols *symbols, const struct frame_print *frame, uint64_t lookup)
{
    struct frame_print copy = *frame;

    symbols_find(symbols, lookup, print_function, &copy);
}
