/*
 * gprof's sampling. The C library sets its own handler for SIGPROF by a call that is not interposed; programs built with
 * -pg do so before main(). That handler becomes the program's, and the agent's is installed in front of it again.
 */
#include <sys/gmon.h>
#include <unistd.h>

#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

SFB_INTERPOSED void __monstartup(u_long lowpc, u_long highpc)
{
    if (!sfb_real()->monstartup)
        return;
    sfb_real()->monstartup(lowpc, highpc);
    sfb_prof_signal_take_back();
}

SFB_INTERPOSED void monstartup(u_long lowpc, u_long highpc)
{
    __monstartup(lowpc, highpc);
}

extern void moncontrol(int mode); /* in no header */

SFB_INTERPOSED void moncontrol(int mode)
{
    if (!sfb_real()->moncontrol)
        return;
    sfb_real()->moncontrol(mode);
    sfb_prof_signal_take_back();
}

SFB_INTERPOSED int profil(unsigned short *buffer, size_t size, size_t offset, unsigned scale)
{
    const int failed = sfb_real()->profil ? sfb_real()->profil(buffer, size, offset, scale) : -1;

    sfb_prof_signal_take_back();
    return failed;
}
