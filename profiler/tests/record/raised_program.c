/*
 * A program with the agent linked in, for a test that makes it set-user-ID: there the loader ignores LD_PRELOAD, and the
 * agent is there all the same. Exit status: 0; 77: the loader is not in its secure mode, so that nothing is shown.
 */
#include <stdlib.h>
#include <sys/auxv.h>

#include "profiler/tests/record/burn.h"
#include "sframe_backtrace_record.h"

int main(void)
{
    if (sframe_backtrace_record_stop() == SFB_OK) /* named, so that the linker keeps the agent */
        return 1;
    burn_ms(50);
    return getauxval(AT_SECURE) ? 0 : 77;
}
