/*
 * Frame rows, "1.4 SFrame FRE" of version 1 and "2.4 SFrame FRE" of version 3: reading one, finding
 * the row that covers a pc, and making its rule.
 *
 * Inline, because sfb_section_find() puts all of it into one function: see find.c.
 */
#ifndef SFB_SFRAME_FRE_H
#define SFB_SFRAME_FRE_H

#include "base/fail.h"
#include "base/load.h"
#include "sfb/section.h"
#include "sframe/flexible.h"
#include "sframe/layout.h"

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

/*
 * The most data words of a row: one for the CFA, one for RA and one for FP unless the header fixes
 * them, 1.2; in a flexible function two for each.
 */
SFB_INLINE uint32_t sfb_fre_most_words(const struct sfb_section *s, const struct sfb_fde *fde)
{
    return fde->flexible ? SFB_FRE_WORDS_MAX : 1u + (s->fixed_ra == 0) + (s->fixed_fp == 0);
}

/* Where a row is, from the start of the section. */
SFB_INLINE uint64_t sfb_fre_place(const struct sfb_section *s, int64_t position)
{
    return s->fre_offset + (uint64_t)position;
}

/* The table ends before a row or within it. The error's offset stays within the section. */
SFB_INLINE enum sfb_status sfb_fre_cut(const struct sfb_section *s, int64_t position,
                                       struct sfb_error *error)
{
    return sfb_fail(error, SFB_TRUNCATED, "sfre_start_address",
                    sfb_fre_place(s, position < s->fre_size ? position : s->fre_size));
}

/* Where the entry of its function is, from the start of the section. */
SFB_INLINE uint64_t sfb_fre_owner(const struct sfb_section *s, const struct sfb_fde *fde,
                                  const struct sfb_layout *layout)
{
    return s->fde_offset + (uint64_t)fde->index * layout->entry_size;
}

/* Where the number of the function's rows is, from the start of the section. */
SFB_INLINE uint64_t sfb_fre_count_position(const struct sfb_section *s, const struct sfb_fde *fde,
                                           const struct sfb_layout *layout)
{
    const uint64_t attribute =
        layout->attribute_size != 0
            ? (uint64_t)s->fre_offset + fde->fre_offset - layout->attribute_size
            : sfb_fre_owner(s, fde, layout);

    return attribute + layout->count_at;
}

/*
 * 1.4.1: tells whether the info word of a row is invalid. Version 1 has no row without words. Tested also
 * in each row that a scan passes: the start of the next row depends on it.
 */
SFB_INLINE bool sfb_fre_info_is_bad(const struct sfb_section *s, uint32_t info, uint32_t most,
                                    const struct sfb_layout *layout)
{
    const uint32_t least = layout->rows_may_be_empty ? 0 : 1;

    return sfb_fre_count(info) - least >= most + 1 - least ||
           sfb_fre_width(info) == SFB_FRE_INFO_WIDTH_MASK ||
           ((info & SFB_FRE_INFO_MANGLED_RA) != 0 && s->abi == SFB_ABI_AMD64_LE);
}

/* 1.4: reads the offset with index `place` of a row. */
SFB_INLINE int32_t sfb_fre_offset(const uint8_t *offsets, uint32_t place, uint32_t width, bool swap)
{
    switch (width) {
    case 0: return (int8_t)offsets[place];
    case 1: return (int16_t)sfb_load_u16(offsets + 2 * place, swap);
    default: return sfb_load_i32(offsets + 4 * place, swap);
    }
}

/* Reads and validates the row at a position of the FRE sub-section; the position may lie outside. */
SFB_INLINE enum sfb_status sfb_fre_load(const struct sfb_section *s, const struct sfb_fde *fde,
                                        uint32_t start_size, uint32_t position,
                                        struct sfb_reading how, struct sfb_fre *out,
                                        struct sfb_error *error)
{
    const uint64_t at = (uint64_t)s->fre_offset + position;
    const uint64_t head = (uint64_t)position + start_size + 1;
    const uint8_t *fre, *words;
    uint32_t info, count, width;

    if (head > s->fre_size)
        return sfb_fre_cut(s, position, error);
    fre = s->data + at;
    info = fre[start_size];
    if (sfb_fre_info_is_bad(s, info, sfb_fre_most_words(s, fde), how.layout))
        return sfb_fail(error, SFB_BAD_FRE, "sfre_info", at + start_size);
    count = sfb_fre_count(info);
    width = sfb_fre_width(info);
    if (head + (count << width) > s->fre_size)
        return sfb_fail(error, SFB_TRUNCATED, "sfre_info", at + start_size);

    words = fre + start_size + 1;
    out->start = sfb_fre_start(fre, start_size, how.swap);
    out->position = position;
    out->size = start_size + 1 + (count << width);
    out->offset_count = (uint8_t)count;
    out->offset[0] =
        !how.layout->rows_may_be_empty || count > 0 ? sfb_fre_offset(words, 0, width, how.swap) : 0;
    out->offset[1] = count > 1 ? sfb_fre_offset(words, 1, width, how.swap) : 0;
    out->offset[2] = count > 2 ? sfb_fre_offset(words, 2, width, how.swap) : 0;
    if (fde->flexible)
        for (uint32_t i = 3; i < SFB_FRE_WORDS_MAX; i++)
            out->offset[i] = count > i ? sfb_fre_offset(words, i, width, how.swap) : 0;
    out->word_size = (uint8_t)(1u << width);
    out->cfa_base = (info & SFB_FRE_INFO_BASE_SP) != 0 ? SFB_BASE_SP : SFB_BASE_FP;
    out->mangled_ra = (info & SFB_FRE_INFO_MANGLED_RA) != 0;
    return SFB_OK;
}

/*
 * Finds the last row that starts at or before an offset of the function.
 *
 * One check per row: its start and info are within the table. Its words are checked with the next row,
 * and by sfb_fre_load() for the chosen row.
 */
SFB_INLINE enum sfb_status sfb_fre_scan(const struct sfb_section *s, const struct sfb_fde *fde,
                                        uint32_t offset, uint32_t start_size,
                                        struct sfb_reading how, struct sfb_fre *out,
                                        struct sfb_error *error)
{
    const uint8_t *table = s->data + s->fre_offset;
    const int64_t last = (int64_t)s->fre_size - (start_size + 1);
    const uint32_t most = sfb_fre_most_words(s, fde), plain = 2 * most;
    int64_t position = fde->fre_offset, found = 0;
    uint32_t before = 0, i;

    for (i = 0; i < fde->fre_count; i++) {
        const uint8_t *fre;
        uint32_t start, info;

        if (position > last)
            return sfb_fre_cut(s, position, error);
        fre = table + position;
        start = sfb_fre_start(fre, start_size, how.swap);
        if (start > offset)
            break;
        if (start < before)
            return sfb_fail(error, SFB_BAD_FRE, "sfre_start_address", sfb_fre_place(s, position));
        before = start;
        found = position;
        info = fre[start_size];
        /* Words of one byte, a good count, not mangled: nearly every row, in one comparison. */
        if (__builtin_expect(info - 2 < plain, true)) {
            position += start_size + 1 + (info >> 1);
            continue;
        }
        if (sfb_fre_info_is_bad(s, info, most, how.layout))
            return sfb_fail(error, SFB_BAD_FRE, "sfre_info",
                            sfb_fre_place(s, position) + start_size);
        position += start_size + 1 + (sfb_fre_count(info) << sfb_fre_width(info));
    }
    if (i == 0)
        return fde->fre_count == 0
                   ? sfb_fail(error, SFB_NO_FRE, how.layout->count_name,
                              sfb_fre_count_position(s, fde, how.layout))
                   : sfb_fail(error, SFB_NO_FRE, "sfre_start_address", sfb_fre_place(s, position));
    return sfb_fre_load(s, fde, start_size, (uint32_t)found, how, out, error);
}

SFB_INLINE enum sfb_status sfb_fre_lookup(const struct sfb_section *s, const struct sfb_fde *fde,
                                          uint64_t pc, struct sfb_reading how, struct sfb_fre *out,
                                          struct sfb_error *error)
{
    const uint64_t distance = pc - fde->start;
    uint32_t offset = (uint32_t)distance;

    if (distance >= fde->size)
        return sfb_fail(error, SFB_NO_FRE, how.layout->size_name,
                        sfb_fre_owner(s, fde, how.layout) + how.layout->size_at);
    /* Never 0 in an entry that was read; the caller's own may be. */
    if (fde->type == SFB_FDE_PCMASK && fde->repeat_size != 0)
        offset %= fde->repeat_size;

    /* A loop for each width: the start of a row is then one load, its size a shift and an add. */
    switch (fde->fre_type) {
    case SFB_FRE_ADDR1: return sfb_fre_scan(s, fde, offset, 1, how, out, error);
    case SFB_FRE_ADDR2: return sfb_fre_scan(s, fde, offset, 2, how, out, error);
    default: return sfb_fre_scan(s, fde, offset, 4, how, out, error);
    }
}

/*
 * The CFA is the value of sp before the call. On AMD64 the call itself has pushed a word since; elsewhere
 * a leaf's CFA is sp itself. A CFA below that is invalid. binutils 2.40 writes "sp" for a CFA based on
 * another register; such rows are caught here if their offset shows it.
 */
SFB_INLINE bool sfb_fre_cfa_is_bad(const struct sfb_section *s, const struct sfb_fre *fre)
{
    return fre->cfa_base == SFB_BASE_SP && fre->offset[0] < (s->abi == SFB_ABI_AMD64_LE ? 8 : 0);
}

/*
 * A PLT entry of AMD64, which is jumped to from a call, has no more than the word that the call
 * pushed on the stack where it begins. ld 2.41 and later write sp + 16 for .plt.got, in which
 * nothing is ever pushed.
 */
SFB_INLINE bool sfb_fre_is_bad_plt(const struct sfb_section *s, const struct sfb_fde *fde,
                                   const struct sfb_fre *fre)
{
    return fde->type == SFB_FDE_PCMASK && s->abi == SFB_ABI_AMD64_LE && fre->start == 0 &&
           fre->cfa_base == SFB_BASE_SP && fre->offset[0] != 8;
}

/*
 * 1.4: "the first offset is always used to locate the CFA", then RA and FP, each only where it is
 * tracked, which is: not fixed by the header.
 */
SFB_INLINE enum sfb_status sfb_fre_meaning(const struct sfb_section *s, const struct sfb_fde *fde,
                                           const struct sfb_fre *fre,
                                           const struct sfb_layout *layout, struct sfb_rule *out,
                                           struct sfb_error *error)
{
    const bool ra_stored = s->fixed_ra == 0 && fre->offset_count > 1;
    const bool fp_stored = s->fixed_fp == 0 && fre->offset_count > (s->fixed_ra == 0 ? 2 : 1);
    const int32_t fp_offset = s->fixed_ra == 0 ? fre->offset[2] : fre->offset[1];

    if (layout->rows_may_be_empty && fre->offset_count == 0) {
        *out = (struct sfb_rule){ .flags = SFB_RULE_OUTERMOST };
        return SFB_OK;
    }
    if (fde->flexible)
        return sfb_flexible_rule(s, fde, fre, out, error);
    if (sfb_fre_cfa_is_bad(s, fre) || (layout->plt_got_is_wrong && sfb_fre_is_bad_plt(s, fde, fre)))
        return sfb_fail(error, SFB_BAD_FRE, "sfre_info",
                        (uint64_t)s->fre_offset + fre->position + sfb_fre_start_size(fde));

    *out = (struct sfb_rule){
        .cfa_base = fre->cfa_base,
        .ra.where = s->fixed_ra != 0 || ra_stored ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED,
        .fp.where = s->fixed_fp != 0 || fp_stored ? SFB_WHERE_CFA : SFB_WHERE_UNSAVED,
        .flags =
            (uint8_t)((fre->mangled_ra ? SFB_RULE_RA_SIGNED : 0) |
                      (fde->key_b ? SFB_RULE_RA_KEY_B : 0) | (fde->signal ? SFB_RULE_SIGNAL : 0)),
        .cfa_offset = fre->offset[0],
        .ra.offset = ra_stored ? fre->offset[1] : s->fixed_ra,
        .fp.offset = fp_stored ? fp_offset : s->fixed_fp,
    };
    return SFB_OK;
}

#endif
