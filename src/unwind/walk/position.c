#include "unwind/walk/position.h"

#include <stdatomic.h>

const struct sfb_module sfb_module_not_cached = { .section_status = SFB_NO_MODULE,
                                                  .eh_frame_status = SFB_NO_MODULE };

uint64_t sfb_walker_name(struct sfb_walk *w)
{
    static _Atomic uint64_t walks;

    if (!w->table_memory.user)
        w->table_memory.user =
            (void *)(uintptr_t)(atomic_fetch_add_explicit(&walks, 1, memory_order_relaxed) + 1);
    return (uintptr_t)w->table_memory.user;
}
