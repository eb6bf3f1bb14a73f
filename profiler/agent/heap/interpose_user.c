/*
 * setuid(), setreuid(), setresuid(): before root becomes another user for good, the live table's file loses its name. The
 * process could not remove it later, and gives it no new one: the kernel keeps that user away from the process's memory.
 */
#include <unistd.h>

#include "profiler/agent/interpose.h"
#include "profiler/agent/live/live.h"
#include "profiler/agent/real.h"

/* Signal-safe, as these functions are: a child of vfork() may call them. */
static void become(uid_t real, uid_t effective, uid_t saved)
{
    const uid_t same = (uid_t)-1;

    if (real != 0 && effective != 0 && saved != 0 && real != same && effective != same &&
        saved != same && geteuid() == 0)
        sfb_live_leave_user();
}

SFB_INTERPOSED int setuid(uid_t uid)
{
    become(uid, uid, uid);
    return sfb_real()->setuid(uid);
}

/* The saved user is the effective one then. */
SFB_INTERPOSED int setreuid(uid_t ruid, uid_t euid)
{
    become(ruid, euid, euid);
    return sfb_real()->setreuid(ruid, euid);
}

SFB_INTERPOSED int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
    become(ruid, euid, suid);
    return sfb_real()->setresuid(ruid, euid, suid);
}
