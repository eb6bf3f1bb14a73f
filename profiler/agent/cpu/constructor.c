/* The preloaded agent. Begins when it is loaded, if `sfb record` waits for it; else it does nothing. */
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/single_threaded.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/cpu/begin.h"
#include "profiler/agent/cpu/cpu_process.h"
#include "profiler/agent/cpu/thread_life.h"
#include "profiler/agent/find_session.h"
#include "profiler/agent/real.h"
#include "profiler/agent/slot.h"
#include "profiler/agent/space.h"

__attribute__((constructor)) static void start(int argument_count, char *arguments[])
{
    struct sfb_shared *shared;
    uint64_t cpu_start = sfb_clock(CLOCK_PROCESS_CPUTIME_ID);

    sfb_real();
    if (getauxval(AT_SECURE))
        return;
    sfb_slot_describe(argument_count, arguments);
    sfb_space.kind = &sfb_thread_space;
    shared = sfb_session_map(getenv(SFB_SHARED_ENVIRONMENT), SFB_SHARED_CPU);
    if (shared)
        sfb_begin(shared, cpu_start,
                  !__libc_single_threaded); /* constructors may have made threads */
}

__attribute__((destructor)) static void end(void)
{
    sfb_process_end();
}
