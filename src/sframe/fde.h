/*
 * Function entries, "1.3 SFrame FDE" of version 1 and "2.3 SFrame FDE" of version 3: reading one,
 * and finding the one that covers a pc.
 *
 * Inline, because sfb_section_find() puts all of it into one function: see find.c.
 */
#ifndef SFB_SFRAME_FDE_H
#define SFB_SFRAME_FDE_H

#include "base/fail.h"
#include "base/load.h"
#include "sfb/section.h"
#include "sframe/layout.h"

/* Entries before the nearest one that are also tested: see sfb_fde_search(). */
enum { SFB_FDE_STEPS_BACK = 16 };

/*
 * The start of the function, counted from the start of the section, whatever it is stored as.
 *
 * Searches compare these offsets, not addresses: pc - section is as small as the stored values, so a wrap
 * of the address space does no harm. And a start that is stored this way needs no addition.
 */
SFB_INLINE int64_t sfb_fde_place(const struct sfb_section *s, const uint8_t *fde,
                                 struct sfb_reading how)
{
    uint64_t start = how.layout->start_size == 8 ? sfb_load_u64(fde, how.swap)
                                                 : (uint64_t)sfb_load_i32(fde, how.swap);

    if (how.field_relative)
        start += (uint64_t)(fde - s->data);
    return (int64_t)start;
}

/* Half-open, modulo 2^64: a place behind the start is a huge distance and no size reaches it. */
SFB_INLINE bool sfb_fde_covers(const struct sfb_section *s, const uint8_t *fde, int64_t place,
                               struct sfb_reading how)
{
    const uint64_t distance = (uint64_t)place - (uint64_t)sfb_fde_place(s, fde, how);

    return distance < sfb_load_u32(fde + how.layout->size_at, how.swap);
}

/* 1.1.3 without SFRAME_F_FDE_SORTED: the first that covers. */
SFB_INLINE const uint8_t *sfb_fde_scan(const struct sfb_section *s, int64_t place,
                                       struct sfb_reading how)
{
    const uint8_t *fde = s->data + s->fde_offset;

    for (uint32_t i = 0; i < s->fde_count; i++, fde += how.layout->entry_size)
        if (sfb_fde_covers(s, fde, place, how))
            return fde;
    return NULL;
}

/*
 * The last of n > 0 entries that starts at or before a place; the first if all start behind it.
 *
 * Four-way and written for cmov. A predictor cannot know the way of a step, so the latency of a step
 * counts. Three independent probes cost hardly more than one. In ns, gcc 12, 1,000 entries, each search
 * waiting for the one before; pcs that repeat / random:
 *
 *     16 / 16    this
 *     24 / 24    two-way, pointers, cmov
 *     21 / 21    this with sums of masks in place of selections
 *      9 / 50    two-way with branches
 */
SFB_INLINE const uint8_t *sfb_fde_nearest(const struct sfb_section *s, int64_t place,
                                          struct sfb_reading how)
{
    const size_t entry = how.layout->entry_size;
    const uint8_t *fde = s->data + s->fde_offset;
    size_t n = s->fde_count;

    while (n >= 4) {
        const size_t step = n / 4 * entry;
        const uint8_t *a = fde + step, *b = fde + 2 * step, *c = fde + 3 * step;
        const uint8_t *low = sfb_fde_place(s, a, how) <= place ? a : fde;
        const uint8_t *high = sfb_fde_place(s, c, how) <= place ? c : b;

        fde = sfb_fde_place(s, b, how) <= place ? high : low;
        n -= n / 4 * 3;
    }
    while (n > 1) {
        const uint8_t *next = fde + entry;

        fde = sfb_fde_place(s, next, how) <= place ? next : fde;
        n--;
    }
    return fde;
}

/*
 * Finds an entry that covers a pc. Never gives another, even if the flag for sorted entries is wrong.
 *
 * Sometimes the nearest entry at or before the pc does not cover it, but another one does. Functions of
 * size zero share their start with the next one, and ld 2.40 emits an entry for .plt.sec that is too
 * long. So a few entries before it are tested, too.
 */
SFB_INLINE const uint8_t *sfb_fde_search(const struct sfb_section *s, uint64_t pc,
                                         struct sfb_reading how)
{
    const int64_t place = (int64_t)(pc - s->address);
    const uint8_t *first = s->data + s->fde_offset, *fde;

    if ((s->flags & SFB_SECTION_FDE_SORTED) == 0)
        return sfb_fde_scan(s, place, how);
    if (s->fde_count == 0)
        return NULL;

    fde = sfb_fde_nearest(s, place, how);
    for (int i = 0; !sfb_fde_covers(s, fde, place, how); i++, fde -= how.layout->entry_size)
        if (i == SFB_FDE_STEPS_BACK || fde == first)
            return NULL;
    return fde;
}

/* Where a byte of the tables is, from the start of the section. */
SFB_INLINE uint64_t sfb_fde_position(const struct sfb_section *s, const uint8_t *at)
{
    return (uint64_t)(at - s->data);
}

/* 1.3.1, and 2.3.3 of version 3: the bits that an entry of this ABI must not have. */
SFB_INLINE bool sfb_fde_info_is_bad(const struct sfb_section *s, uint8_t info,
                                    const struct sfb_layout *layout)
{
    const uint8_t foreign = s->abi == SFB_ABI_AMD64_LE  ? SFB_FDE_INFO_KEY_B
                            : layout->pcmask_amd64_only ? SFB_FDE_INFO_PCMASK
                                                        : 0;

    return (info & (layout->info_reserved | foreign)) != 0 ||
           (info & SFB_FDE_INFO_FRE_TYPE) > SFB_FRE_ADDR4;
}

/*
 * 1.3.2 of version 1 gives PCMASK rows no size to count modulo. ld 2.40, the one linker that writes
 * them in version 1, does so for the 16-byte entries of the x86-64 .plt and .plt.sec only.
 */
SFB_INLINE uint8_t sfb_fde_repeat_size(const uint8_t *attribute, const struct sfb_layout *layout)
{
    return layout->repeat_at != 0 ? attribute[layout->repeat_at] : 16;
}

/* Reads and validates an entry of the table. */
SFB_INLINE enum sfb_status sfb_fde_load(const struct sfb_section *s, const uint8_t *fde,
                                        struct sfb_reading how, struct sfb_fde *out,
                                        struct sfb_error *error)
{
    const struct sfb_layout *layout = how.layout;
    const uint32_t offset = sfb_load_u32(fde + layout->rows_at, how.swap);
    const uint8_t *attribute = fde;
    uint32_t fre_count, left = s->fre_size;
    uint64_t fre_least;
    uint8_t info, info2, repeat;

    if (layout->attribute_size != 0) {
        if (s->fre_size < layout->attribute_size ||
            offset > s->fre_size - (uint32_t)layout->attribute_size)
            return sfb_fail(error, SFB_TRUNCATED, layout->rows_name,
                            sfb_fde_position(s, fde) + layout->rows_at);
        attribute = s->data + s->fre_offset + offset;
        left -= offset + layout->attribute_size;
    }
    fre_count = layout->count_size == 2 ? sfb_load_u16(attribute + layout->count_at, how.swap)
                                        : sfb_load_u32(attribute + layout->count_at, how.swap);
    info = attribute[layout->info_at];
    info2 = layout->info2_at != 0 ? attribute[layout->info2_at] : 0;
    repeat = sfb_fde_repeat_size(attribute, layout);

    if (sfb_fde_info_is_bad(s, info, layout))
        return sfb_fail(error, SFB_BAD_FDE, layout->info_name,
                        sfb_fde_position(s, attribute) + layout->info_at);
    if ((info2 & ~SFB_FDE_INFO2_FLEXIBLE) != 0)
        return sfb_fail(error, SFB_BAD_FDE, layout->info2_name,
                        sfb_fde_position(s, attribute) + layout->info2_at);
    if (repeat == 0 && (info & SFB_FDE_INFO_PCMASK) != 0)
        return sfb_fail(error, SFB_BAD_FDE, layout->repeat_name,
                        sfb_fde_position(s, attribute) + layout->repeat_at);
    if (fre_count != 0) {
        /* Start, info, and one word unless rows may be empty. */
        fre_least = (UINT64_C(1) << (info & 3)) + 1 + !layout->rows_may_be_empty;
        if (layout->attribute_size == 0) {
            if (offset >= s->fre_size)
                return sfb_fail(error, SFB_TRUNCATED, layout->rows_name,
                                sfb_fde_position(s, fde) + layout->rows_at);
            left -= offset;
        }
        if (fre_count * fre_least > left)
            return sfb_fail(error, SFB_TRUNCATED, layout->count_name,
                            sfb_fde_position(s, attribute) + layout->count_at);
    }

    out->start = s->address + (uint64_t)sfb_fde_place(s, fde, how);
    out->size = sfb_load_u32(fde + layout->size_at, how.swap);
    out->fre_offset = offset + layout->attribute_size;
    out->fre_count = fre_count;
    out->index = (uint32_t)((sfb_fde_position(s, fde) - s->fde_offset) / layout->entry_size);
    out->fre_type = info & SFB_FDE_INFO_FRE_TYPE;
    out->type = (info & SFB_FDE_INFO_PCMASK) != 0 ? SFB_FDE_PCMASK : SFB_FDE_PCINC;
    out->repeat_size = repeat;
    out->key_b = (info & SFB_FDE_INFO_KEY_B) != 0;
    out->signal = (info & SFB_FDE_INFO_SIGNAL) != 0;
    out->flexible = (info2 & SFB_FDE_INFO2_FLEXIBLE) != 0;
    return SFB_OK;
}

/* The two in one. */
SFB_INLINE enum sfb_status sfb_fde_lookup(const struct sfb_section *s, uint64_t pc,
                                          struct sfb_reading how, struct sfb_fde *out,
                                          struct sfb_error *error)
{
    const uint8_t *fde = sfb_fde_search(s, pc, how);

    if (fde == NULL)
        return sfb_fail(error, SFB_NO_FDE, how.layout->start_name, s->fde_offset);
    return sfb_fde_load(s, fde, how, out, error);
}

#endif
