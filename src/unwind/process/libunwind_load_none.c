/* Replaces libunwind_load.c in builds without libunwind. */
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
