/* Exits of the process that run no destructors. */
#include <stdlib.h>
#include <unistd.h>

#include "profiler/agent/cpu/cpu_process.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

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
