/* Frame rows by position and by pc, for dumps and checks: fre.h does the work. */
#include "fre.h"

enum sfb_status sfb_fre_read(const struct sfb_section *section, const struct sfb_fde *fde,
                             uint32_t position, struct sfb_fre *out, struct sfb_error *error)
{
    return sfb_fre_load(section, sfb_fre_start_size(fde), position, section->swap, out, error);
}

enum sfb_status sfb_fre_find(const struct sfb_section *section, const struct sfb_fde *fde,
                             uint64_t pc, struct sfb_fre *out, struct sfb_error *error)
{
    return section->swap ? sfb_fre_lookup(section, fde, pc, true, out, error)
                         : sfb_fre_lookup(section, fde, pc, false, out, error);
}

enum sfb_status sfb_fre_rule(const struct sfb_section *section, const struct sfb_fde *fde,
                             const struct sfb_fre *fre, struct sfb_rule *out,
                             struct sfb_error *error)
{
    return sfb_fre_meaning(section, fde, fre, out, error);
}
