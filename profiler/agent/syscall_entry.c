#include "profiler/agent/syscall_entry.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/filter.h"
#include "profiler/agent/real.h"

static long run(long number, long a, long b, long c, long d, long e, long f)
{
    return sfb_real()->syscall(number, a, b, c, d, e, f);
}

static void *pointer(long argument)
{
    return (void *)(uintptr_t)argument; // NOLINT(performance-no-int-to-ptr): as syscall() has it
}

/* execve() and execveat() are the agent's own, which handle signals under way. */
long sfb_syscall_looked_at(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_seccomp)
        sfb_filter_look((unsigned long)a, pointer(c));
    if (number == SYS_execve)
        return execve(pointer(a), pointer(b), pointer(c));
    if (number == SYS_execveat)
        return execveat((int)a, pointer(b), pointer(c), pointer(d), (int)e);
    return run(number, a, b, c, d, e, f);
}
