#include "unwind/capture/spurious.h"

#include "unwind/process/loader.h"

/* @return the source of the frame. The fast walk does not keep it: the callee's module tells. */
static enum sfb_source source_of(const struct sfb_capture_walk *walk, uint64_t callee)
{
    const struct sfb_modules *modules = sfb_modules_live(false);
    const struct sfb_module *m;

    if (walk->walker.current.source != SFB_SOURCE_SFRAME || callee == 0)
        return walk->walker.current.source;
    m = modules->find(modules, callee, NULL);
    return m && m->section_status == SFB_OK ? SFB_SOURCE_SFRAME : SFB_SOURCE_EH_FRAME;
}

void sfb_spurious_discount(struct sframe_backtrace_info *info, const struct sfb_capture_walk *walk,
                           uint64_t callee)
{
    enum sfb_source source = source_of(walk, callee);

    if (info->by_source[source] == 0)
        source = SFB_SOURCE_EH_FRAME;
    if (info->by_source[source] > 0)
        info->by_source[source]--;
}
