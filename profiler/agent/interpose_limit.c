/* setrlimit(), prlimit(): before a limit on address space is set, the agent unmaps what would exceed its share. */
#include <sys/resource.h>
#include <unistd.h>

#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"
#include "profiler/agent/space.h"

_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "one layout, two names");

/* @param limits  struct rlimit; may be NULL although the header says nonnull: the kernel judges it */
static void look(enum __rlimit_resource resource, const void *limits)
{
    const struct rlimit *volatile given = limits;
    const struct rlimit *limit = given;

    if (resource == RLIMIT_AS && limit)
        sfb_space_limit_comes(limit->rlim_cur);
}

SFB_INTERPOSED int setrlimit(__rlimit_resource_t resource, const struct rlimit *rlimits)
{
    look(resource, rlimits);
    return sfb_real()->setrlimit(resource, rlimits);
}

SFB_INTERPOSED int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *rlimits)
{
    look(resource, rlimits);
    return sfb_real()->setrlimit64(resource, rlimits);
}

SFB_INTERPOSED int prlimit(pid_t pid, enum __rlimit_resource resource,
                           const struct rlimit *new_limit, struct rlimit *old_limit)
{
    if (pid == 0 || pid == getpid())
        look(resource, new_limit);
    return sfb_real()->prlimit(pid, resource, new_limit, old_limit);
}

SFB_INTERPOSED int prlimit64(pid_t pid, enum __rlimit_resource resource,
                             const struct rlimit64 *new_limit, struct rlimit64 *old_limit)
{
    if (pid == 0 || pid == getpid())
        look(resource, new_limit);
    return sfb_real()->prlimit64(pid, resource, new_limit, old_limit);
}
