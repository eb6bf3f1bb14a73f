/*
 * From pc to rule in one call: a walk makes it once per frame.
 *
 * All of fde.h and fre.h is inlined here, once for each common kind of section. So the entry and the row
 * stay in registers, and no loop tests the version. The rare kinds share one more copy: sections of
 * linkers that do not merge, sections of the other byte order (read by tools only), and functions of
 * version 3 with flexible rows.
 */
#include "sframe/find.h"

#include "sframe/fde.h"
#include "sframe/fre.h"

#define NOINLINE __attribute__((noinline)) static

/* Subtracts all rows of the function from the budget, though the search may stop before. */
SFB_INLINE bool spend(uint32_t *work, uint32_t rows)
{
    if (rows > *work) {
        *work = 0;
        return false;
    }
    *work -= rows;
    return true;
}

SFB_INLINE enum sfb_status find_row(const struct sfb_section *s, const struct sfb_fde *fde,
                                    uint64_t pc, struct sfb_reading how, uint32_t *work,
                                    struct sfb_rule *out, struct sfb_error *error)
{
    struct sfb_fre fre;
    enum sfb_status status;

    if (!spend(work, fde->fre_count))
        return SFB_WORK_LIMIT;
    status = sfb_fre_lookup(s, fde, pc, how, &fre, error);
    if (status != SFB_OK)
        return status;
    return sfb_fre_meaning(s, fde, &fre, how.layout, out, error);
}

SFB_INLINE enum sfb_status find(const struct sfb_section *s, uint64_t pc, struct sfb_reading how,
                                uint32_t *work, struct sfb_rule *out, struct sfb_error *error)
{
    struct sfb_fde fde;
    enum sfb_status status = sfb_fde_lookup(s, pc, how, &fde, error);

    if (status != SFB_OK)
        return status;
    return find_row(s, &fde, pc, how, work, out, error);
}

/* As GNU ld 2.40 writes it. */
SFB_INLINE enum sfb_status find_v1(const struct sfb_section *s, uint64_t pc, uint32_t *work,
                                   struct sfb_rule *out, struct sfb_error *error)
{
    return find(s, pc, (struct sfb_reading){ .layout = &sfb_layouts[0] }, work, out, error);
}

/* 2.41 to 2.44. */
NOINLINE enum sfb_status find_v2(const struct sfb_section *s, uint64_t pc, uint32_t *work,
                                 struct sfb_rule *out, struct sfb_error *error)
{
    return find(s, pc, (struct sfb_reading){ .layout = &sfb_layouts[1] }, work, out, error);
}

/* 2.45, and clang. */
NOINLINE enum sfb_status find_v2_relative(const struct sfb_section *s, uint64_t pc, uint32_t *work,
                                          struct sfb_rule *out, struct sfb_error *error)
{
    return find(s, pc, (struct sfb_reading){ .layout = &sfb_layouts[1], .field_relative = true },
                work, out, error);
}

NOINLINE enum sfb_status find_otherwise(const struct sfb_section *s, uint64_t pc, uint32_t *work,
                                        struct sfb_rule *out, struct sfb_error *error)
{
    return find(s, pc, sfb_reading_of(s), work, out, error);
}

/* 2.46 on. (Without flexible functions, which are few and would double the stack of all.) */
NOINLINE enum sfb_status find_v3(const struct sfb_section *s, uint64_t pc, uint32_t *work,
                                 struct sfb_rule *out, struct sfb_error *error)
{
    const struct sfb_reading how = { .layout = &sfb_layouts[2], .field_relative = true };
    struct sfb_fde fde;
    enum sfb_status status = sfb_fde_lookup(s, pc, how, &fde, error);

    if (status != SFB_OK)
        return status;
    if (fde.flexible)
        return find_otherwise(s, pc, work, out, error);
    return find_row(s, &fde, pc, how, work, out, error);
}

SFB_INLINE enum sfb_status find_here(const struct sfb_section *s, uint64_t pc, uint32_t *work,
                                     struct sfb_rule *out, struct sfb_error *error)
{
    if (s->swap || s->version == 1)
        return find_otherwise(s, pc, work, out, error);
    if (s->version == 2)
        return s->field_relative ? find_v2_relative(s, pc, work, out, error)
                                 : find_v2(s, pc, work, out, error);
    return s->field_relative ? find_v3(s, pc, work, out, error)
                             : find_otherwise(s, pc, work, out, error);
}

/* The headers behind the first. */
NOINLINE enum sfb_status find_further(const struct sfb_section *section, uint64_t pc,
                                      uint32_t *work, struct sfb_rule *out, struct sfb_error *error)
{
    struct sfb_section s = *section;
    enum sfb_status status = SFB_NO_FDE;
    uint64_t from = 0; /* base of an error's offset */

    while (status == SFB_NO_FDE && s.rest != 0) {
        status = sfb_section_next(&s, &s, error);
        if (status != SFB_OK)
            break;
        from = (uint64_t)(s.data - section->data);
        status = find_otherwise(&s, pc, work, out, error);
    }
    if (status != SFB_OK && error != NULL)
        error->offset += from;
    return status;
}

NOINLINE enum sfb_status find_anywhere(const struct sfb_section *section, uint64_t pc,
                                       uint32_t *work, struct sfb_rule *out,
                                       struct sfb_error *error)
{
    const enum sfb_status status = find_here(section, pc, work, out, error);

    return status == SFB_NO_FDE && section->rest != 0 ? find_further(section, pc, work, out, error)
                                                      : status;
}

enum sfb_status sfb_section_find_within(const struct sfb_section *section, uint64_t pc,
                                        uint32_t *work, struct sfb_rule *out,
                                        struct sfb_error *error)
{
    if (__builtin_expect(!section->plain, false))
        return find_anywhere(section, pc, work, out, error);
    return find_v1(section, pc, work, out, error);
}

enum sfb_status sfb_section_find(const struct sfb_section *section, uint64_t pc,
                                 struct sfb_rule *out, struct sfb_error *error)
{
    uint32_t work = UINT32_MAX;

    return sfb_section_find_within(section, pc, &work, out, error);
}
