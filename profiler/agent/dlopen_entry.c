#include "profiler/agent/dlopen_entry.h"

#include <string.h>

#include "profiler/agent/modules.h"
#include "profiler/agent/real.h"

static void *open_by_path(const char *name, int flags)
{
    void *handle;

    sfb_modules_expect(); /* samples of its constructors need the list too */
    handle = sfb_real()->dlopen(name, flags);
    if (handle && sfb_agent_is_here())
        sfb_modules_renew(false);
    return handle;
}

__typeof__(dlopen) *sfb_dlopen_choose(const char *name, int flags)
{
    if (name && flags & RTLD_DEEPBIND && sfb_agent.library_hides)
        sfb_agent.library_hides();
    if (name && sfb_agent.libraries_change)
        sfb_agent.libraries_change(false);
    if (!name || !sfb_agent_is_here())
        return sfb_real()->dlopen;
    if (strchr(name, '/') && !strchr(name, '$'))
        return open_by_path;
    sfb_modules_expect();
    return sfb_real()->dlopen;
}
