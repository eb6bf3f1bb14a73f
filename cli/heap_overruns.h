/* Which stacks allocated the blocks that were overrun, with names. */
#ifndef CLI_HEAP_OVERRUNS_H
#define CLI_HEAP_OVERRUNS_H

#include "cli/tool.h"
#include "profiler/protocol/live_view.h"
#include "symbols/demangle.h"
#include "symbols/symbols.h"

struct heap_overruns {
    struct symbols *symbols; /* borrowed; NULL: no names */
    enum object_name_style names;
    const struct sfb_live_visitor *next; /* receives each event too; may be NULL */
    uint8_t *map;                        /* a copy of the list of modules that holds */
    size_t size;
    uint64_t stacks; /* printed */
    enum tool_exit exit_status;
};

/* Prints the overruns of a dump to stdout. @param visitor  written: to be given to the dump's reader */
void heap_overruns_begin(struct heap_overruns *out, struct symbols *symbols,
                         enum object_name_style names, const struct sfb_live_visitor *next,
                         struct sfb_live_visitor *visitor);

/* The same for a visit that shows the stack of each live block, without a line before it. */
void heap_overruns_begin_all(struct heap_overruns *out, struct symbols *symbols,
                             enum object_name_style names, struct sfb_live_visitor *visitor);

void heap_overruns_end(struct heap_overruns *overruns);

#endif
