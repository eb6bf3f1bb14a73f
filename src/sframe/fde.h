/*
 * Function entries, "1.3 SFrame FDE": reading one, and finding the one that covers a pc.
 *
 * Inline, because sfb_section_find() puts all of it into one function: see find.c.
 */
#ifndef SFB_SFRAME_FDE_H
#define SFB_SFRAME_FDE_H

#include "base/fail.h"
#include "base/load.h"
#include "format.h"
#include "sfb/section.h"

/* How many entries before the nearest one are asked, too: see sfb_fde_search(). */
enum { SFB_FDE_STEPS_BACK = 16 };

/*
 * The start of the function, counted from the start of the section, as version 1 stores it.
 *
 * Searches compare these and not addresses: pc - section is as small as the values are, so that
 * nothing happens where the address space wraps, and no addition is spent on an entry.
 */
SFB_INLINE int64_t sfb_fde_place(const uint8_t *fde, bool swap)
{
    return sfb_load_i32(fde + SFB_SFDE_FUNC_START_ADDRESS, swap);
}

/* Half-open, modulo 2^64: a place behind the start is a huge distance and no size reaches it. */
SFB_INLINE bool sfb_fde_covers(const uint8_t *fde, int64_t place, bool swap)
{
    const uint64_t distance = (uint64_t)place - (uint64_t)sfb_fde_place(fde, swap);

    return distance < sfb_load_u32(fde + SFB_SFDE_FUNC_SIZE, swap);
}

/* 1.1.3 without SFRAME_F_FDE_SORTED: the first that covers. */
SFB_INLINE const uint8_t *sfb_fde_scan(const struct sfb_section *s, int64_t place, bool swap)
{
    const uint8_t *fde = s->data + s->fde_offset;

    for (uint32_t i = 0; i < s->fde_count; i++, fde += SFB_FDE_SIZE)
        if (sfb_fde_covers(fde, place, swap))
            return fde;
    return NULL;
}

/*
 * The last of n > 0 entries that starts at or before a place; the first if all start behind it.
 *
 * Four-way and written for cmov. Which way a step goes is what no predictor knows, so what counts
 * is the latency of a step, and three probes that do not wait for each other cost hardly more than
 * one. In ns, gcc 12, 1,000 entries, each search waiting for the one before; pcs that repeat /
 * random:
 *
 *     16 / 16    this
 *     24 / 24    two-way, pointers, cmov
 *     21 / 21    this with sums of masks in place of selections
 *      9 / 50    two-way with branches
 */
SFB_INLINE const uint8_t *sfb_fde_nearest(const uint8_t *fde, size_t n, int64_t place, bool swap)
{
    while (n >= 4) {
        const size_t step = n / 4 * SFB_FDE_SIZE;
        const uint8_t *a = fde + step, *b = fde + 2 * step, *c = fde + 3 * step;
        const uint8_t *low = sfb_fde_place(a, swap) <= place ? a : fde;
        const uint8_t *high = sfb_fde_place(c, swap) <= place ? c : b;

        fde = sfb_fde_place(b, swap) <= place ? high : low;
        n -= n / 4 * 3;
    }
    while (n > 1) {
        const uint8_t *next = fde + SFB_FDE_SIZE;

        fde = sfb_fde_place(next, swap) <= place ? next : fde;
        n--;
    }
    return fde;
}

/*
 * Finds the entry that covers a pc, and none that does not, whatever the flag says about the order.
 *
 * The nearest entry at or before the pc does not always cover it although another one does:
 * functions of size zero share their start with the next one, and ld 2.40 emits an entry for
 * .plt.sec that is too long. So a few entries before it are asked, too.
 */
SFB_INLINE const uint8_t *sfb_fde_search(const struct sfb_section *s, uint64_t pc, bool swap)
{
    const int64_t place = (int64_t)(pc - s->address);
    const uint8_t *first = s->data + s->fde_offset, *fde;

    if ((s->flags & SFB_SECTION_FDE_SORTED) == 0)
        return sfb_fde_scan(s, place, swap);
    if (s->fde_count == 0)
        return NULL;

    fde = sfb_fde_nearest(first, s->fde_count, place, swap);
    for (int i = 0; !sfb_fde_covers(fde, place, swap); i++, fde -= SFB_FDE_SIZE)
        if (i == SFB_FDE_STEPS_BACK || fde == first)
            return NULL;
    return fde;
}

/* 1.3.1: the bits that the info word of an entry of this ABI must not have. */
SFB_INLINE bool sfb_fde_info_is_bad(const struct sfb_section *s, uint8_t info)
{
    const uint8_t foreign = s->abi == SFB_ABI_AMD64_LE ? SFB_FDE_INFO_KEY_B : SFB_FDE_INFO_PCMASK;

    return (info & (SFB_FDE_INFO_RESERVED | foreign)) != 0 ||
           (info & SFB_FDE_INFO_FRE_TYPE) > SFB_FRE_ADDR4;
}

/* Where an entry is, from the start of the section. */
SFB_INLINE uint64_t sfb_fde_position(const struct sfb_section *s, const uint8_t *fde)
{
    return (uint64_t)(fde - s->data);
}

/* Reads and judges an entry of the table. */
SFB_INLINE enum sfb_status sfb_fde_load(const struct sfb_section *s, const uint8_t *fde, bool swap,
                                        struct sfb_fde *out, struct sfb_error *error)
{
    const uint8_t info = fde[SFB_SFDE_FUNC_INFO];
    const uint8_t fre_type = info & SFB_FDE_INFO_FRE_TYPE;
    const uint32_t fre_offset = sfb_load_u32(fde + SFB_SFDE_FUNC_START_FRE_OFF, swap);
    const uint32_t fre_count = sfb_load_u32(fde + SFB_SFDE_FUNC_NUM_FRES, swap);
    const uint64_t fre_least = (UINT64_C(1) << (fre_type & 3)) + 2; /* start, info, one offset */

    if (sfb_fde_info_is_bad(s, info))
        return sfb_fail(error, SFB_BAD_FDE, "sfde_func_info",
                        sfb_fde_position(s, fde) + SFB_SFDE_FUNC_INFO);
    if (fre_count != 0) {
        if (fre_offset >= s->fre_size)
            return sfb_fail(error, SFB_TRUNCATED, "sfde_func_start_fre_off",
                            sfb_fde_position(s, fde) + SFB_SFDE_FUNC_START_FRE_OFF);
        if (fre_count * fre_least > s->fre_size - fre_offset)
            return sfb_fail(error, SFB_TRUNCATED, "sfde_func_num_fres",
                            sfb_fde_position(s, fde) + SFB_SFDE_FUNC_NUM_FRES);
    }

    out->start = s->address + (uint64_t)sfb_fde_place(fde, swap);
    out->size = sfb_load_u32(fde + SFB_SFDE_FUNC_SIZE, swap);
    out->fre_offset = fre_offset;
    out->fre_count = fre_count;
    out->index = (uint32_t)((sfb_fde_position(s, fde) - s->fde_offset) / SFB_FDE_SIZE);
    out->fre_type = fre_type;
    out->type = (info & SFB_FDE_INFO_PCMASK) != 0 ? SFB_FDE_PCMASK : SFB_FDE_PCINC;
    out->key_b = (info & SFB_FDE_INFO_KEY_B) != 0;
    return SFB_OK;
}

/* The two in one. */
SFB_INLINE enum sfb_status sfb_fde_lookup(const struct sfb_section *s, uint64_t pc, bool swap,
                                          struct sfb_fde *out, struct sfb_error *error)
{
    const uint8_t *fde = sfb_fde_search(s, pc, swap);

    if (fde == NULL)
        return sfb_fail(error, SFB_NO_FDE, "sfde_func_start_address", s->fde_offset);
    return sfb_fde_load(s, fde, swap, out, error);
}

#endif
