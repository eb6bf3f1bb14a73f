/* In the place of source_libunwind.c where libunwind is not built in: it never has an answer. */
#include "unwind/walk/source_libunwind.h"

enum sfb_status sfb_libunwind_step(struct sfb_walk *walker)
{
    (void)walker;
    return SFB_NO_LIBUNWIND;
}
