#include "record/dlopen_entry.h"

#include <string.h>

#include "record/modules.h"
#include "record/real.h"

static void *open_by_path(const char *name, int flags)
{
    void *handle;

    sfb_modules_expect(); /* its constructors are sampled, too */
    handle = sfb_real()->dlopen(name, flags);
    if (handle && sfb_agent_is_here())
        sfb_modules_renew(false);
    return handle;
}

__typeof__(dlopen) *sfb_dlopen_choose(const char *name)
{
    if (name && sfb_agent.libraries_change)
        sfb_agent.libraries_change(false);
    if (!name || !sfb_agent_is_here())
        return sfb_real()->dlopen;
    if (strchr(name, '/') && !strchr(name, '$'))
        return open_by_path;
    sfb_modules_expect();
    return sfb_real()->dlopen;
}
