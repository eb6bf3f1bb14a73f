/* Which stacks allocated the blocks that were overrun, with names. */
#ifndef HEAP_OVERRUNS_H
#define HEAP_OVERRUNS_H

#include "object/demangle.h"
#include "recorder/live_view.h"
#include "symbols.h"
#include "tool.h"

struct heap_overruns {
    struct symbols *symbols; /* borrowed; NULL: no names */
    enum object_name_style names;
    const struct sfb_live_visitor *next; /* is told all, too; may be NULL */
    uint8_t *map;                        /* a copy of the list of modules that holds */
    size_t size;
    uint64_t stacks; /* printed */
    enum tool_exit exit_status;
};

/* Prints to stdout what a dump says of them. @param visitor  written: the dump is told to it */
void heap_overruns_begin(struct heap_overruns *out, struct symbols *symbols,
                         enum object_name_style names, const struct sfb_live_visitor *next,
                         struct sfb_live_visitor *visitor);

void heap_overruns_end(struct heap_overruns *overruns);

#endif
