/* Ways out of the process that run no destructors. */
#include <stdlib.h>
#include <unistd.h>

#include "record/interpose.h"
#include "record/process.h"
#include "record/real.h"

SFB_INTERPOSED void _exit(int status)
{
    sfb_process_end();
    sfb_real()->exit_now(status);
    __builtin_unreachable();
}

SFB_INTERPOSED void _Exit(int status)
{
    _exit(status);
}
