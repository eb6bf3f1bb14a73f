/*
 * Entries of .eh_frame, LSB "The .eh_frame section".
 *
 *     CIE: length, 0,       version, augmentation, code and data alignment, RA column,
 *                           augmentation data, initial instructions
 *     FDE: length, back to the CIE, start, size, augmentation data, instructions
 */
#include "eh_frame/entry.h"

#include "base/fail.h"
#include "base/leb128.h"
#include "eh_frame/format.h"
#include "eh_frame/pointer.h"
#include "eh_frame/window.h"

/*
 * Reads the letters of an augmentation. An unknown letter ends the reading: the size of its data is not
 * known. But the end of all augmentation data is.
 */
static bool read_augmentation(const struct sfb_eh_frame *eh, const uint8_t *letters,
                              struct sfb_reader *r, struct sfb_cfi_fde *out)
{
    uint64_t size = sfb_reader_uleb(r), ignored;
    struct sfb_reader data = *r;
    uint8_t encoding;

    sfb_reader_skip(r, size);
    if (r->failed)
        return false;
    data.left = (size_t)size;
    for (; *letters; letters++) {
        switch (*letters) {
        case 'R': out->encoding = sfb_reader_u8(&data); break;
        case 'L': sfb_reader_u8(&data); break;
        case 'P':
            encoding = sfb_reader_u8(&data);
            if (encoding == EH_OMIT)
                break;
            if (encoding != EH_ALIGNED)
                encoding &= EH_FORMAT; /* the base does not matter: the value is ignored */
            if (!sfb_eh_pointer(eh, &data, encoding, &ignored))
                return false;
            break;
        case 'S': out->signal = true; break;
        case 'B': out->key_b = true; break;
        case 'G': break; /* memory tags */
        default: return !data.failed;
        }
    }
    return !data.failed;
}

static enum sfb_status read_cie(const struct sfb_eh_frame *eh, struct sfb_cfi_fde *out,
                                bool *has_size, struct sfb_error *error)
{
    const uint32_t at = out->cie_offset;
    const uint8_t *letters;
    struct sfb_reader r;
    uint64_t code_align, ra_column;
    int64_t data_align;
    uint8_t version;

    if (!sfb_eh_entry(eh, at, &r))
        return sfb_fail(error, SFB_TRUNCATED, "CIE length", at);
    if (sfb_reader_u32(&r) != 0)
        return sfb_fail(error, SFB_BAD_CFI, "CIE id", at + 4);
    version = sfb_reader_u8(&r);
    if (version != 1 && version != 3)
        return sfb_fail(error, r.failed ? SFB_TRUNCATED : SFB_BAD_CFI, "CIE version", at + 8);
    letters = r.pos;
    while (sfb_reader_u8(&r) != 0)
        ;
    code_align = sfb_reader_uleb(&r);
    data_align = sfb_reader_sleb(&r);
    ra_column = version == 1 ? sfb_reader_u8(&r) : sfb_reader_uleb(&r);
    if (r.failed)
        return sfb_fail(error, SFB_TRUNCATED, "CIE", at);
    *has_size = letters[0] == 'z';
    if (letters[0] != 0 && (!*has_size || !read_augmentation(eh, letters + 1, &r, out)))
        return sfb_fail(error, SFB_BAD_CFI, "CIE augmentation", at + 9);
    if (code_align > INT32_MAX || data_align > INT32_MAX || data_align < INT32_MIN ||
        ra_column > INT8_MAX)
        return sfb_fail(error, SFB_BAD_CFI, "CIE alignment", at);
    out->code_align = (uint32_t)code_align;
    out->data_align = (int32_t)data_align;
    out->ra_column = (uint8_t)ra_column;
    out->initial = sfb_eh_offset(eh, &r);
    out->initial_end = out->initial + (uint32_t)r.left;
    return SFB_OK;
}

enum sfb_status sfb_cfi_fde_read(struct sfb_cfi_fde *out, const struct sfb_eh_frame *eh,
                                 uint32_t offset, struct sfb_error *error)
{
    struct sfb_cfi_fde fde = { .offset = offset, .encoding = EH_ABSPTR };
    uint64_t size, back;
    struct sfb_reader r;
    uint32_t id;
    bool has_size;
    enum sfb_status status;

    if (!sfb_eh_entry(eh, offset, &r))
        return sfb_fail(error, SFB_TRUNCATED, "FDE length", offset);
    id = sfb_eh_offset(eh, &r);
    back = sfb_reader_u32(&r);
    if (r.failed || back == 0 || back > id)
        return sfb_fail(error, SFB_BAD_CFI, "CIE pointer", id);
    fde.cie_offset = id - (uint32_t)back;
    status = read_cie(eh, &fde, &has_size, error);
    if (status != SFB_OK)
        return status;
    if (!sfb_eh_pointer(eh, &r, fde.encoding, &fde.start) ||
        !sfb_eh_pointer(eh, &r, fde.encoding & EH_FORMAT, &size))
        return sfb_fail(error, r.failed ? SFB_TRUNCATED : SFB_BAD_CFI, "PC begin", id + 4);
    fde.end = fde.start + size;
    if (fde.end < fde.start)
        return sfb_fail(error, SFB_BAD_CFI, "PC range", id + 4);
    if (has_size)
        sfb_reader_skip(&r, sfb_reader_uleb(&r));
    if (r.failed)
        return sfb_fail(error, SFB_TRUNCATED, "FDE augmentation", id);
    fde.program = sfb_eh_offset(eh, &r);
    fde.program_end = fde.program + (uint32_t)r.left;
    *out = fde;
    return SFB_OK;
}
