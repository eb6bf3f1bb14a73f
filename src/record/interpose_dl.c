/* dlclose(): the list of modules is renewed before another library can be where that one was. (dlopen_entry.h) */
#include <dlfcn.h>

#include "record/interpose.h"
#include "record/modules.h"
#include "record/real.h"

SFB_INTERPOSED int dlclose(void *handle)
{
    const bool here = sfb_agent_is_here();
    int result;

    if (here)
        sfb_modules_unload_begin();
    result = sfb_real()->dlclose(handle);
    if (here)
        sfb_modules_unload_end();
    if (result == 0 && sfb_agent_is_here()) {
        sfb_modules_renew(true);
        if (sfb_agent
                .modules_are_new) /* also where the list is what it was before the library came */
            sfb_agent.modules_are_new();
    } else if (result == 0 && sfb_agent.libraries_change) {
        sfb_agent.libraries_change(true);
    }
    return result;
}
