/* Replaces source_libunwind.c in builds without libunwind: always a miss. */
#include "unwind/walk/source_libunwind.h"

enum sfb_status sfb_libunwind_step(struct sfb_walk *walker)
{
    (void)walker;
    return SFB_NO_LIBUNWIND;
}
