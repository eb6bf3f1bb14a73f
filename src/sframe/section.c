/* From the bytes of a header to a view of the section's two tables. */
#include "sfb/section.h"

#include <string.h>

#include "base/fail.h"
#include "base/reader.h"
#include "sframe/layout.h"

struct header {
    uint16_t magic;
    uint8_t version;
    uint8_t flags;
    uint8_t abi;
    int8_t fixed_fp;
    int8_t fixed_ra;
    uint8_t aux_size;
    uint32_t fde_count;
    uint32_t fre_count;
    uint32_t fre_size;
    uint32_t fdeoff;
    uint32_t freoff;
};

static const struct sfb_layout *layout_of(const struct header *h)
{
    return &sfb_layouts[h->version - SFB_VERSION_MIN];
}

/* Names the first field that does not lie wholly within size bytes. */
static enum sfb_status header_cut(size_t size, struct sfb_error *error)
{
    static const struct {
        const char *name;
        uint8_t end;
    } fields[] = {
        { "sfp_magic", SFB_SFP_VERSION },
        { "sfp_version", SFB_SFP_FLAGS },
        { "sfp_flags", SFB_PREAMBLE_SIZE },
        { "sfh_abi_arch", SFB_SFH_CFA_FIXED_FP_OFFSET },
        { "sfh_cfa_fixed_fp_offset", SFB_SFH_CFA_FIXED_RA_OFFSET },
        { "sfh_cfa_fixed_ra_offset", SFB_SFH_AUXHDR_LEN },
        { "sfh_auxhdr_len", SFB_SFH_NUM_FDES },
        { "sfh_num_fdes", SFB_SFH_NUM_FRES },
        { "sfh_num_fres", SFB_SFH_FRE_LEN },
        { "sfh_fre_len", SFB_SFH_FDEOFF },
        { "sfh_fdeoff", SFB_SFH_FREOFF },
        { "sfh_freoff", SFB_HEADER_SIZE },
    };
    size_t i = 0;

    while (size >= fields[i].end)
        i++;
    return sfb_fail(error, SFB_TRUNCATED, fields[i].name, i == 0 ? 0 : fields[i - 1].end);
}

/* 1.1: the preamble, checked before any other field of the header, in every version. */
static enum sfb_status read_preamble(struct sfb_reader *r, size_t size, struct header *h,
                                     struct sfb_error *error)
{
    h->magic = sfb_reader_u16(r);
    if (!r->failed && h->magic != SFB_MAGIC && h->magic != SFB_MAGIC_SWAPPED)
        return sfb_fail(error, SFB_BAD_MAGIC, "sfp_magic", SFB_SFP_MAGIC);
    r->swap = h->magic == SFB_MAGIC_SWAPPED;
    h->version = sfb_reader_u8(r);
    h->flags = sfb_reader_u8(r);
    if (r->failed)
        return header_cut(size, error);

    if (h->version < SFB_VERSION_MIN || h->version > SFB_VERSION_MAX)
        return sfb_fail(error, SFB_BAD_VERSION, "sfp_version", SFB_SFP_VERSION);
    if ((h->flags & ~layout_of(h)->flags) != 0)
        return sfb_fail(error, SFB_BAD_HEADER, "sfp_flags", SFB_SFP_FLAGS);
    return SFB_OK;
}

/* 1.2.1: an ABI implies a byte order, which must agree with the magic's. */
static enum sfb_status judge_abi(const struct header *h, bool swap, struct sfb_error *error)
{
    const bool big = swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

    if (h->abi < SFB_ABI_AARCH64_BE || h->abi > SFB_ABI_AMD64_LE ||
        big != (h->abi == SFB_ABI_AARCH64_BE))
        return sfb_fail(error, SFB_BAD_HEADER, "sfh_abi_arch", SFB_SFH_ABI_ARCH);

    /* On AMD64 a call pushes the return address: a section that tracks it in rows is invalid.
     */
    if (h->abi == SFB_ABI_AMD64_LE && h->fixed_ra == 0)
        return sfb_fail(error, SFB_BAD_HEADER, "sfh_cfa_fixed_ra_offset",
                        SFB_SFH_CFA_FIXED_RA_OFFSET);
    return SFB_OK;
}

/*
 * 1.2: both tables lie within the section, entries first. All sums are 64 bits wide: five 32-bit fields
 * cannot overflow them, while a hostile file can make fde_count * 17 wrap 32 bits.
 */
static enum sfb_status judge_tables(const struct header *h, size_t size, struct sfb_section *out,
                                    struct sfb_error *error)
{
    const uint64_t base = (uint64_t)SFB_HEADER_SIZE + h->aux_size;
    const uint64_t fdes = base + h->fdeoff;
    const uint64_t fdes_end = fdes + (uint64_t)h->fde_count * layout_of(h)->entry_size;
    const uint64_t fres = base + h->freoff;
    const uint64_t fres_end = fres + h->fre_size;

    if (base > size)
        return sfb_fail(error, SFB_TRUNCATED, "sfh_auxhdr_len", SFB_SFH_AUXHDR_LEN);
    if (fdes > size)
        return sfb_fail(error, SFB_TRUNCATED, "sfh_fdeoff", SFB_SFH_FDEOFF);
    if (fdes_end > size)
        return sfb_fail(error, SFB_TRUNCATED, "sfh_num_fdes", SFB_SFH_NUM_FDES);
    if (fres > size)
        return sfb_fail(error, SFB_TRUNCATED, "sfh_freoff", SFB_SFH_FREOFF);
    if (fres_end > size)
        return sfb_fail(error, SFB_TRUNCATED, "sfh_fre_len", SFB_SFH_FRE_LEN);
    /* The view keeps 32-bit offsets; only a section beyond 4 GiB has others. */
    if (fdes_end > fres || fres > UINT32_MAX)
        return sfb_fail(error, SFB_BAD_HEADER, "sfh_freoff", SFB_SFH_FREOFF);

    out->size = (size_t)fres_end;
    out->fde_offset = (uint32_t)fdes;
    out->fre_offset = (uint32_t)fres;
    return SFB_OK;
}

/* @return padding between a header's tables and the next header, if a linker has put several.
 */
static uint64_t gap_behind(uint64_t size)
{
    return -size & (SFB_HEADER_ALIGNMENT - 1);
}

/* Bytes behind the tables, if they begin with another header, else 0. */
static size_t rest_of(const uint8_t *data, size_t tables, size_t size)
{
    const uint64_t next = tables + gap_behind(tables);

    if (next + SFB_PREAMBLE_SIZE > size || memcmp(data + next, data, SFB_SFP_VERSION) != 0)
        return 0;
    return size - tables;
}

/*
 * 1.3, and 2.1.3 of version 3: the base of a function's start. (Version 1 of the specification only
 * states "the start address of the function".)
 */
static bool starts_are_field_relative(const struct header *h)
{
    if (layout_of(h)->unsorted_is_field_relative && (h->flags & SFB_SECTION_FDE_SORTED) == 0)
        return true;
    return (h->flags & SFB_SECTION_FIELD_RELATIVE) != 0;
}

enum sfb_status sfb_section_open(struct sfb_section *out, const void *data, size_t size,
                                 uint64_t address, struct sfb_error *error)
{
    struct sfb_reader r = { .pos = data, .left = size };
    struct sfb_section s;
    struct header h;
    enum sfb_status status;

    if (out == NULL || data == NULL)
        return sfb_fail(error, SFB_BAD_ARGUMENT, out == NULL ? "out" : "data", 0);

    status = read_preamble(&r, size, &h, error);
    if (status != SFB_OK)
        return status;
    h.abi = sfb_reader_u8(&r);
    h.fixed_fp = (int8_t)sfb_reader_u8(&r);
    h.fixed_ra = (int8_t)sfb_reader_u8(&r);
    h.aux_size = sfb_reader_u8(&r);
    h.fde_count = sfb_reader_u32(&r);
    h.fre_count = sfb_reader_u32(&r);
    h.fre_size = sfb_reader_u32(&r);
    h.fdeoff = sfb_reader_u32(&r);
    h.freoff = sfb_reader_u32(&r);
    if (r.failed)
        return header_cut(size, error);

    status = judge_abi(&h, r.swap, error);
    if (status == SFB_OK)
        status = judge_tables(&h, size, &s, error);
    if (status != SFB_OK)
        return status;

    s.data = data;
    s.address = address;
    s.fde_count = h.fde_count;
    s.fre_count = h.fre_count;
    s.fre_size = h.fre_size;
    s.version = h.version;
    s.flags = h.flags;
    s.abi = h.abi;
    s.aux_size = h.aux_size;
    s.fixed_fp = h.fixed_fp;
    s.fixed_ra = h.fixed_ra;
    s.swap = r.swap;
    s.field_relative = starts_are_field_relative(&h);
    s.rest = rest_of(data, s.size, size);
    s.plain = s.version == 1 && !s.swap && !s.field_relative && s.rest == 0;
    *out = s;
    return SFB_OK;
}

enum sfb_status sfb_section_next(struct sfb_section *out, const struct sfb_section *section,
                                 struct sfb_error *error)
{
    const uint64_t gap = gap_behind(section->size), skip = section->size + gap;

    enum sfb_status status;

    if (section->rest <= gap)
        return sfb_fail(error, SFB_NO_SECTION, "sfp_magic", section->size);
    status = sfb_section_open(out, section->data + skip, section->rest - (size_t)gap,
                              section->address + skip, error);
    if (status != SFB_OK && error != NULL)
        error->offset += skip;
    return status;
}
