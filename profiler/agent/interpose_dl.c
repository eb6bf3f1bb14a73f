/* dlclose(): the list of modules is renewed before another library can take the same addresses. (dlopen_entry.h) */
#include <dlfcn.h>

#include "profiler/agent/interpose.h"
#include "profiler/agent/modules.h"
#include "profiler/agent/real.h"

SFB_INTERPOSED int dlclose(void *handle)
{
    const bool here = sfb_agent_is_here();
    int result;

    if (here)
        sfb_modules_unload_begin();
    result = sfb_real()->dlclose(handle);
    if (here)
        sfb_modules_unload_end();
    if (sfb_agent_is_here()) {
        if (result == 0)
            sfb_modules_renew(true);
        /* Also if the list equals the one before the library; or if it failed, for another thread may have been refused
         * a look meanwhile. */
        if (sfb_agent.modules_are_new)
            sfb_agent.modules_are_new();
    } else if (result == 0 && sfb_agent.libraries_change) {
        sfb_agent.libraries_change(true);
    }
    return result;
}
