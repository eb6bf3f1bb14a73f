/*
 * From pc to rule in one call: what a walk asks once per frame.
 *
 * All of fde.h and fre.h is inlined here, once for each byte order, so that the entry and the row
 * stay in registers and no byte order is asked for in a loop. Sections of the other byte order are
 * read by tools only, and leave the common path at its first instruction.
 */
#include "fde.h"
#include "fre.h"

SFB_INLINE enum sfb_status find(const struct sfb_section *s, uint64_t pc, bool swap,
                                struct sfb_rule *out, struct sfb_error *error)
{
    struct sfb_fde fde;
    struct sfb_fre fre;
    enum sfb_status status;

    status = sfb_fde_lookup(s, pc, swap, &fde, error);
    if (status != SFB_OK)
        return status;
    status = sfb_fre_lookup(s, &fde, pc, swap, &fre, error);
    if (status != SFB_OK)
        return status;
    return sfb_fre_meaning(s, &fde, &fre, out, error);
}

__attribute__((noinline)) static enum sfb_status find_swapped(const struct sfb_section *s,
                                                              uint64_t pc, struct sfb_rule *out,
                                                              struct sfb_error *error)
{
    return find(s, pc, true, out, error);
}

enum sfb_status sfb_section_find(const struct sfb_section *section, uint64_t pc,
                                 struct sfb_rule *out, struct sfb_error *error)
{
    if (__builtin_expect(section->swap, false))
        return find_swapped(section, pc, out, error);
    return find(section, pc, false, out, error);
}
