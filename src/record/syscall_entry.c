#include "record/syscall_entry.h"

#include <stdint.h>
#include <sys/syscall.h>

#include "record/filter.h"
#include "record/real.h"

long (*sfb_syscall_real)(long, ...);

static long run(long number, long a, long b, long c, long d, long e, long f)
{
    return sfb_real()->syscall(number, a, b, c, d, e, f);
}

long sfb_syscall_looked_at(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_seccomp)
        sfb_filter_look((unsigned long)a, (const void *)(uintptr_t)c);
    return run(number, a, b, c, d, e, f);
}
