/* In the place of libunwind_load.c where libunwind is not built in: there is none to be given. */
#include "sfb/walk.h"
#include "unwind/process/libunwind_load.h"

const struct sfb_libunwind *sfb_libunwind_loaded(void)
{
    return NULL;
}

const struct sfb_libunwind *sfb_libunwind_load(void)
{
    return NULL;
}
