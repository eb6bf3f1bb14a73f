/* Function entries by index and by pc, for dumps and checks: fde.h does the work. */
#include "fde.h"

enum sfb_status sfb_fde_read(const struct sfb_section *section, uint32_t index, struct sfb_fde *out,
                             struct sfb_error *error)
{
    const uint8_t *fde;

    if (index >= section->fde_count)
        return sfb_fail(error, SFB_BAD_ARGUMENT, "index", section->fde_offset);
    fde = section->data + section->fde_offset + (size_t)index * SFB_FDE_SIZE;
    return sfb_fde_load(section, fde, section->swap, out, error);
}

enum sfb_status sfb_fde_find(const struct sfb_section *section, uint64_t pc, struct sfb_fde *out,
                             struct sfb_error *error)
{
    return section->swap ? sfb_fde_lookup(section, pc, true, out, error)
                         : sfb_fde_lookup(section, pc, false, out, error);
}
