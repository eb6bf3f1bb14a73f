/* The preloaded agent: begins when it is loaded, if `sfb record` is waiting for it. Else it does nothing. */
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/single_threaded.h>

#include "record/begin.h"
#include "record/clocks.h"
#include "record/process.h"
#include "record/real.h"
#include "record/session.h"
#include "record/slot.h"
#include "record/space.h"
#include "record/thread_life.h"

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
