/* Function entries by index and by pc, for dumps and checks: fde.h does the work. */
#include "sframe/fde.h"

enum sfb_status sfb_fde_read(const struct sfb_section *section, uint32_t index, struct sfb_fde *out,
                             struct sfb_error *error)
{
    const struct sfb_reading how = sfb_reading_of(section);
    const uint8_t *fde;

    if (index >= section->fde_count)
        return sfb_fail(error, SFB_BAD_ARGUMENT, "index", section->fde_offset);
    fde = section->data + section->fde_offset + (size_t)index * how.layout->entry_size;
    return sfb_fde_load(section, fde, how, out, error);
}

enum sfb_status sfb_fde_find(const struct sfb_section *section, uint64_t pc, struct sfb_fde *out,
                             struct sfb_error *error)
{
    return sfb_fde_lookup(section, pc, sfb_reading_of(section), out, error);
}

enum sfb_status sfb_section_function(const struct sfb_section *section, uint64_t pc,
                                     uint64_t *start)
{
    struct sfb_section further;
    struct sfb_fde fde;
    enum sfb_status status = sfb_fde_find(section, pc, &fde, NULL);

    if (status == SFB_NO_FDE && section->rest != 0) {
        status = sfb_section_next(&further, section, NULL);
        while (status == SFB_OK) {
            status = sfb_fde_find(&further, pc, &fde, NULL);
            if (status != SFB_NO_FDE || further.rest == 0)
                break;
            status = sfb_section_next(&further, &further, NULL);
        }
    }
    if (status == SFB_OK)
        *start = fde.start;
    return status;
}
