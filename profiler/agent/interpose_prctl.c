/* prctl(): a program may set a seccomp filter. */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "profiler/agent/filter.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

SFB_INTERPOSED int prctl(int option, ...)
{
    unsigned long argument[4];
    va_list rest;

    va_start(rest, option);
    for (int i = 0; i < 4; i++) /* the caller may pass fewer: the kernel ignores the rest */
        argument[i] = va_arg(rest, unsigned long);
    va_end(rest);
    if (option == PR_SET_SECCOMP)
        sfb_filter_look(argument[0] == SECCOMP_MODE_STRICT   ? SECCOMP_SET_MODE_STRICT
                        : argument[0] == SECCOMP_MODE_FILTER ? SECCOMP_SET_MODE_FILTER
                                                             : ~0UL,
                        (const void *)(uintptr_t)argument[1]);
    return sfb_real()->prctl(option, argument[0], argument[1], argument[2], argument[3]);
}
