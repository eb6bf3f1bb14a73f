#include "unwind/walk/module_rule.h"

enum sfb_status sfb_module_rule(const struct sfb_module *module, uint64_t pc, struct sfb_rule *rule,
                                uint64_t *start)
{
    enum sfb_status status = module->section_status;
    struct sfb_cfi_fde cfi;

    if (status == SFB_OK)
        status = sfb_section_find(&module->section, pc, rule, NULL);
    if (status == SFB_OK)
        status = sfb_section_function(&module->section, pc, start);
    if (status == SFB_OK)
        return SFB_OK;
    status = module->eh_frame_status;
    if (status == SFB_OK)
        status = sfb_eh_frame_fde_find(&module->eh_frame, pc, &cfi, NULL);
    if (status == SFB_OK)
        status = sfb_eh_frame_find(&module->eh_frame, pc, rule, NULL);
    if (status == SFB_OK)
        *start = cfi.start;
    return status;
}

enum sfb_status sfb_module_function(const struct sfb_module *module, uint64_t pc, uint64_t *start)
{
    enum sfb_status status = module->eh_frame_status;
    struct sfb_cfi_fde cfi;

    if (module->section_status == SFB_OK &&
        sfb_section_function(&module->section, pc, start) == SFB_OK)
        return SFB_OK;
    if (status == SFB_OK)
        status = sfb_eh_frame_fde_find(&module->eh_frame, pc, &cfi, NULL);
    if (status == SFB_OK)
        *start = cfi.start;
    return status;
}
