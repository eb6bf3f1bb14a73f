/*
 * Layout: SFrame version 1, sections 1.1 to 1.3; versions 2 and 3 by `sframe-spec.info` of
 * binutils. Unspecified details follow binutils (docs/FORMATS.md): tables follow the header. Starts
 * count from the section in versions 1 and 2, from their own field in version 3.
 *
 * Field-relative starts in version 2 (flag 0x4, since binutils 2.45) are not used: 2.44 refuses the
 * flag, while glibc follows it and objdump 2.47 reads both.
 */
#include "toolchain/synth/sframe_bytes.h"

#include "toolchain/synth/sframe_put.h"

enum {
    MAGIC = 0xdee2,
    ENTRY_SIZE_1 = 17,
    ENTRY_SIZE_2 = 20,
    ENTRY_SIZE_3 = 16,
    INFO_PCMASK = 0x10, /* 1.3.1 */
    INFO_KEY_B = 0x20,
    INFO_SIGNAL = 0x80, /* version 3 */
    INFO2_FLEXIBLE = 0x01,
    REPEAT_SIZE = 16 /* of the entries of x86-64's .plt, the only repeating table */
};

uint32_t sframe_entry_size(struct sframe_format f)
{
    return f.version == 1 ? ENTRY_SIZE_1 : f.version == 2 ? ENTRY_SIZE_2 : ENTRY_SIZE_3;
}

uint32_t sframe_rows_max(struct sframe_format f)
{
    return f.version == 3 ? UINT16_MAX : UINT32_MAX;
}

uint8_t *sframe_put_header(uint8_t *to, struct sframe_format f, struct sframe_totals totals)
{
    const bool big = f.abi == SFB_ABI_AARCH64_BE;
    uint8_t flags = SFB_SECTION_FDE_SORTED;

    if (f.version == 3)
        flags |= SFB_SECTION_FIELD_RELATIVE;
    to = sframe_put(to, MAGIC, 2, big);
    to = sframe_put(to, f.version, 1, big);
    to = sframe_put(to, flags, 1, big);
    to = sframe_put(to, f.abi, 1, big);
    to = sframe_put(to, 0, 1, big); /* fp is not fixed */
    to = sframe_put(to, (uint8_t)sfb_abi_registers(f.abi).fixed_ra, 1, big);
    to = sframe_put(to, 0, 1, big); /* no auxiliary header */
    to = sframe_put(to, totals.functions, 4, big);
    to = sframe_put(to, totals.rows, 4, big);
    to = sframe_put(to, totals.row_bytes, 4, big);
    to = sframe_put(to, 0, 4, big); /* entries behind the header, rows behind the entries */
    return sframe_put(to, (uint64_t)totals.functions * sframe_entry_size(f), 4, big);
}

static uint8_t info_of(const struct sframe_entry *e)
{
    return (uint8_t)(e->start_log2 | (e->pcmask ? INFO_PCMASK : 0) | (e->key_b ? INFO_KEY_B : 0) |
                     (e->signal ? INFO_SIGNAL : 0));
}

static uint8_t repeat_of(const struct sframe_entry *e)
{
    return e->pcmask ? REPEAT_SIZE : 0;
}

uint8_t *sframe_put_entry(uint8_t *to, struct sframe_format f, const struct sframe_entry *e,
                          uint32_t index)
{
    const bool big = f.abi == SFB_ABI_AARCH64_BE;

    if (f.version == 3) {
        to = sframe_put(to, e->start - SYNTH_HEADER_SIZE - (uint64_t)index * ENTRY_SIZE_3, 8, big);
        to = sframe_put(to, e->size, 4, big);
        return sframe_put(to, e->rows_at, 4, big);
    }
    to = sframe_put(to, e->start, 4, big);
    to = sframe_put(to, e->size, 4, big);
    to = sframe_put(to, e->rows_at, 4, big);
    to = sframe_put(to, e->row_count, 4, big);
    to = sframe_put(to, info_of(e), 1, big);
    if (f.version == 1)
        return to;
    to = sframe_put(to, repeat_of(e), 1, big);
    return sframe_put(to, 0, 2, big); /* padding */
}

uint8_t *sframe_put_attribute(uint8_t *to, struct sframe_format f, const struct sframe_entry *e)
{
    const bool big = f.abi == SFB_ABI_AARCH64_BE;

    if (f.version != 3)
        return to;
    to = sframe_put(to, e->row_count, 2, big);
    to = sframe_put(to, info_of(e), 1, big);
    to = sframe_put(to, e->flexible ? INFO2_FLEXIBLE : 0, 1, big);
    return sframe_put(to, repeat_of(e), 1, big);
}
