/*
 * What the suites that walk the other machine's stacks ask for, and what no machine but the running one
 * has: the walker's front door, without its defaults.
 */
#include <stddef.h>

#include "unwind/walk/walker.h"

enum sfb_status sfb_walker_init(struct sfb_walker *walker, struct sfb_context *start,
                                enum sfb_frame_kind kind, const struct sfb_walker_options *options)
{
    struct sfb_walk *out = (struct sfb_walk *)walker;

    if (!options || !options->modules || !options->memory)
        return SFB_BAD_ARGUMENT;
    sfb_walker_start(out, start, kind, options->flags, options->modules, options->memory);
    out->work = options->max_work ? options->max_work : SFB_WALKER_WORK;
    return SFB_OK;
}
