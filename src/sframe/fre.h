/*
 * Frame rows, "1.4 SFrame FRE": reading one, finding the one that holds, saying what it means.
 *
 * Inline, because sfb_section_find() puts all of it into one function: see find.c.
 */
#ifndef SFB_SFRAME_FRE_H
#define SFB_SFRAME_FRE_H

#include "base/fail.h"
#include "base/load.h"
#include "format.h"
#include "sfb/section.h"

/* Bytes of sfre_start_address, 1.3.3. */
SFB_INLINE uint32_t sfb_fre_start_size(const struct sfb_fde *fde)
{
    return UINT32_C(1) << (fde->fre_type & 3);
}

SFB_INLINE uint32_t sfb_fre_start(const uint8_t *fre, uint32_t start_size, bool swap)
{
    switch (start_size) {
    case 1: return fre[0];
    case 2: return sfb_load_u16(fre, swap);
    default: return sfb_load_u32(fre, swap);
    }
}

SFB_INLINE uint32_t sfb_fre_count(uint32_t info)
{
    return info >> SFB_FRE_INFO_COUNT_SHIFT & SFB_FRE_INFO_COUNT_MASK;
}

/* log2 of the bytes of an offset. */
SFB_INLINE uint32_t sfb_fre_width(uint32_t info)
{
    return info >> SFB_FRE_INFO_WIDTH_SHIFT & SFB_FRE_INFO_WIDTH_MASK;
}

/* One for the CFA, one for RA and one for FP unless the header fixes them, 1.2. */
SFB_INLINE uint32_t sfb_fre_most_offsets(const struct sfb_section *s)
{
    return 1u + (s->fixed_ra == 0) + (s->fixed_fp == 0);
}

/* Where a row is, from the start of the section. */
SFB_INLINE uint64_t sfb_fre_place(const struct sfb_section *s, int64_t position)
{
    return s->fre_offset + (uint64_t)position;
}

/* The table ends before a row or within it. A row is never said to lie outside of the section. */
SFB_INLINE enum sfb_status sfb_fre_cut(const struct sfb_section *s, int64_t position,
                                       struct sfb_error *error)
{
    return sfb_fail(error, SFB_TRUNCATED, "sfre_start_address",
                    sfb_fre_place(s, position < s->fre_size ? position : s->fre_size));
}

/* Where the entry of its function is, from the start of the section. */
SFB_INLINE uint64_t sfb_fre_owner(const struct sfb_section *s, const struct sfb_fde *fde)
{
    return s->fde_offset + (uint64_t)fde->index * SFB_FDE_SIZE;
}

/*
 * 1.4.1: what the info word of a row of this section cannot be. Version 1 has no row without
 * offsets. Judged in every row that is passed on the way, too: where the next one begins depends on
 * it.
 */
SFB_INLINE bool sfb_fre_info_is_bad(const struct sfb_section *s, uint32_t info)
{
    return sfb_fre_count(info) - 1 >= sfb_fre_most_offsets(s) ||
           sfb_fre_width(info) == SFB_FRE_INFO_WIDTH_MASK ||
           ((info & SFB_FRE_INFO_MANGLED_RA) != 0 && s->abi == SFB_ABI_AMD64_LE);
}

/* 1.4: the offset at a place among those of a row. */
SFB_INLINE int32_t sfb_fre_offset(const uint8_t *offsets, uint32_t place, uint32_t width, bool swap)
{
    switch (width) {
    case 0: return (int8_t)offsets[place];
    case 1: return (int16_t)sfb_load_u16(offsets + 2 * place, swap);
    default: return sfb_load_i32(offsets + 4 * place, swap);
    }
}

/* Reads and judges the row at a position of the FRE sub-section, which need not be within it. */
SFB_INLINE enum sfb_status sfb_fre_load(const struct sfb_section *s, uint32_t start_size,
                                        uint32_t position, bool swap, struct sfb_fre *out,
                                        struct sfb_error *error)
{
    const uint64_t at = (uint64_t)s->fre_offset + position;
    const uint64_t head = (uint64_t)position + start_size + 1;
    const uint8_t *fre;
    uint32_t info, count, width;

    if (head > s->fre_size)
        return sfb_fre_cut(s, position, error);
    fre = s->data + at;
    info = fre[start_size];
    if (sfb_fre_info_is_bad(s, info))
        return sfb_fail(error, SFB_BAD_FRE, "sfre_info", at + start_size);
    count = sfb_fre_count(info);
    width = sfb_fre_width(info);
    if (head + (count << width) > s->fre_size)
        return sfb_fail(error, SFB_TRUNCATED, "sfre_info", at + start_size);

    out->start = sfb_fre_start(fre, start_size, swap);
    out->position = position;
    out->size = start_size + 1 + (count << width);
    out->offset_count = (uint8_t)count;
    out->offset[0] = sfb_fre_offset(fre + start_size + 1, 0, width, swap);
    out->offset[1] = count > 1 ? sfb_fre_offset(fre + start_size + 1, 1, width, swap) : 0;
    out->offset[2] = count > 2 ? sfb_fre_offset(fre + start_size + 1, 2, width, swap) : 0;
    out->cfa_base = (info & SFB_FRE_INFO_BASE_SP) != 0 ? SFB_BASE_SP : SFB_BASE_FP;
    out->mangled_ra = (info & SFB_FRE_INFO_MANGLED_RA) != 0;
    return SFB_OK;
}

/*
 * Finds the last row that starts at or before an offset of the function.
 *
 * One check per row: that its start and info are within the table. Whether the offsets are, the
 * check of the next row says, and sfb_fre_load() for the row that is chosen.
 */
SFB_INLINE enum sfb_status sfb_fre_scan(const struct sfb_section *s, const struct sfb_fde *fde,
                                        uint32_t offset, uint32_t start_size, bool swap,
                                        struct sfb_fre *out, struct sfb_error *error)
{
    const uint8_t *table = s->data + s->fre_offset;
    const int64_t last = (int64_t)s->fre_size - (start_size + 1);
    const uint32_t plain = 2 * sfb_fre_most_offsets(s);
    int64_t position = fde->fre_offset, found = 0;
    uint32_t before = 0, i;

    for (i = 0; i < fde->fre_count; i++) {
        const uint8_t *fre;
        uint32_t start, info;

        if (position > last)
            return sfb_fre_cut(s, position, error);
        fre = table + position;
        start = sfb_fre_start(fre, start_size, swap);
        if (start > offset)
            break;
        if (start < before)
            return sfb_fail(error, SFB_BAD_FRE, "sfre_start_address", sfb_fre_place(s, position));
        before = start;
        found = position;
        info = fre[start_size];
        /* Offsets of one byte, a good count, not mangled: nearly every row, in one comparison. */
        if (__builtin_expect(info - 2 < plain, true)) {
            position += start_size + 1 + (info >> 1);
            continue;
        }
        if (sfb_fre_info_is_bad(s, info))
            return sfb_fail(error, SFB_BAD_FRE, "sfre_info",
                            sfb_fre_place(s, position) + start_size);
        position += start_size + 1 + (sfb_fre_count(info) << sfb_fre_width(info));
    }
    if (i == 0)
        return fde->fre_count == 0
                   ? sfb_fail(error, SFB_NO_FRE, "sfde_func_num_fres",
                              sfb_fre_owner(s, fde) + SFB_SFDE_FUNC_NUM_FRES)
                   : sfb_fail(error, SFB_NO_FRE, "sfre_start_address", sfb_fre_place(s, position));
    return sfb_fre_load(s, start_size, (uint32_t)found, swap, out, error);
}

SFB_INLINE enum sfb_status sfb_fre_lookup(const struct sfb_section *s, const struct sfb_fde *fde,
                                          uint64_t pc, bool swap, struct sfb_fre *out,
                                          struct sfb_error *error)
{
    const uint64_t distance = pc - fde->start;
    uint32_t offset = (uint32_t)distance;

    if (distance >= fde->size)
        return sfb_fail(error, SFB_NO_FRE, "sfde_func_size",
                        sfb_fre_owner(s, fde) + SFB_SFDE_FUNC_SIZE);
    if (fde->type == SFB_FDE_PCMASK)
        offset %= SFB_PLT_ENTRY_SIZE;

    /* A loop for each width: the start of a row is then one load, its size a shift and an add. */
    switch (fde->fre_type) {
    case SFB_FRE_ADDR1: return sfb_fre_scan(s, fde, offset, 1, swap, out, error);
    case SFB_FRE_ADDR2: return sfb_fre_scan(s, fde, offset, 2, swap, out, error);
    default: return sfb_fre_scan(s, fde, offset, 4, swap, out, error);
    }
}

/*
 * 1.4: "the first offset is always used to locate the CFA", then RA and FP, each only where it is
 * tracked, which is: not fixed by the header.
 *
 * A CFA is where sp was before the call. On AMD64 the call itself has pushed a word since;
 * elsewhere a leaf has sp itself. Below that no frame begins: binutils 2.40 writes "sp" for a CFA
 * that is counted from another register, and such rows are caught here as far as their offset
 * tells.
 */
SFB_INLINE enum sfb_status sfb_fre_meaning(const struct sfb_section *s, const struct sfb_fde *fde,
                                           const struct sfb_fre *fre, struct sfb_rule *out,
                                           struct sfb_error *error)
{
    const int32_t least = s->abi == SFB_ABI_AMD64_LE ? 8 : 0;
    const bool ra_stored = s->fixed_ra == 0 && fre->offset_count > 1;
    const bool fp_stored = s->fixed_fp == 0 && fre->offset_count > (s->fixed_ra == 0 ? 2 : 1);
    const int32_t fp_offset = s->fixed_ra == 0 ? fre->offset[2] : fre->offset[1];

    if (fre->cfa_base == SFB_BASE_SP && fre->offset[0] < least)
        return sfb_fail(error, SFB_BAD_FRE, "sfre_info",
                        (uint64_t)s->fre_offset + fre->position + sfb_fre_start_size(fde));

    *out = (struct sfb_rule){
        .cfa_base = fre->cfa_base,
        .ra_where = s->fixed_ra != 0 || ra_stored ? SFB_WHERE_CFA : SFB_WHERE_SAME,
        .fp_where = s->fixed_fp != 0 || fp_stored ? SFB_WHERE_CFA : SFB_WHERE_SAME,
        .flags = (uint8_t)((fre->mangled_ra ? SFB_RULE_RA_SIGNED : 0) |
                           (fde->key_b ? SFB_RULE_RA_KEY_B : 0)),
        .cfa_offset = fre->offset[0],
        .ra_offset = ra_stored ? fre->offset[1] : s->fixed_ra,
        .fp_offset = fp_stored ? fp_offset : s->fixed_fp,
    };
    return SFB_OK;
}

#endif
