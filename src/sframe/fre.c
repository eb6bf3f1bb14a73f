/* Frame rows by position and by pc, for dumps and checks: fre.h does the work. */
#include "sframe/fre.h"

enum sfb_status sfb_fre_read(const struct sfb_section *section, const struct sfb_fde *fde,
                             uint32_t position, struct sfb_fre *out, struct sfb_error *error)
{
    return sfb_fre_load(section, fde, sfb_fre_start_size(fde), position, sfb_reading_of(section),
                        out, error);
}

enum sfb_status sfb_fre_find(const struct sfb_section *section, const struct sfb_fde *fde,
                             uint64_t pc, struct sfb_fre *out, struct sfb_error *error)
{
    return sfb_fre_lookup(section, fde, pc, sfb_reading_of(section), out, error);
}

enum sfb_status sfb_fre_rule(const struct sfb_section *section, const struct sfb_fde *fde,
                             const struct sfb_fre *fre, struct sfb_rule *out,
                             struct sfb_error *error)
{
    return sfb_fre_meaning(section, fde, fre, sfb_reading_of(section).layout, out, error);
}
