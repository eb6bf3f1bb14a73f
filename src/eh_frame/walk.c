/*
 * All entries of a section, one after the other.
 *
 * Each FDE is read with its CIE. A large CIE may be shared by all FDEs, so the bytes of CIEs read have a
 * limit. Compilers write 20 bytes of CIE for 20 and more of an FDE.
 */
#include "base/fail.h"
#include "eh_frame/entry.h"
#include "eh_frame/window.h"

enum { CIES_PER_BYTE = 64, CIES_LEAST = 1 << 20 };

enum sfb_status sfb_eh_frame_walk_init(struct sfb_eh_frame_walk *out, const void *data, size_t size,
                                       uint64_t address, enum sfb_abi abi)
{
    const bool big = abi == SFB_ABI_AARCH64_BE;

    if (!out || !data || size > UINT32_MAX)
        return SFB_BAD_ARGUMENT;
    *out = (struct sfb_eh_frame_walk){
        .eh = { .data = data,
                .address = address,
                .frames = address,
                .size = (uint32_t)size,
                .table = (uint32_t)size,
                .abi = (uint8_t)abi,
                .swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) },
        .work = (uint64_t)size * CIES_PER_BYTE + CIES_LEAST,
    };
    return SFB_OK;
}

/* Subtracts the bytes of an FDE's CIE from the limit. A missing CIE costs nothing. */
static bool pay_for_cie(struct sfb_eh_frame_walk *walk, uint32_t id_at, uint32_t back)
{
    struct sfb_reader cie;

    if (back > id_at || !sfb_eh_entry(&walk->eh, id_at - back, &cie))
        return true;
    if (cie.left > walk->work)
        return false;
    walk->work -= cie.left;
    return true;
}

enum sfb_status sfb_eh_frame_walk_next(struct sfb_eh_frame_walk *walk, struct sfb_cfi_fde *out,
                                       struct sfb_error *error)
{
    if (!walk || !out)
        return SFB_BAD_ARGUMENT;
    while (walk->next < walk->eh.size) {
        const uint32_t at = walk->next;
        struct sfb_reader r;
        uint32_t id_at, id;

        if (!sfb_eh_entry(&walk->eh, at, &r)) {
            walk->next = walk->eh.size;
            return sfb_fail(error, SFB_TRUNCATED, "length", at);
        }
        id_at = sfb_eh_offset(&walk->eh, &r);
        walk->next = id_at + (uint32_t)r.left;
        if (r.left == 0)
            continue; /* a terminator */
        id = sfb_reader_u32(&r);
        if (r.failed)
            return sfb_fail(error, SFB_TRUNCATED, "CIE pointer", id_at);
        if (id == 0)
            continue; /* a CIE */
        if (!pay_for_cie(walk, id_at, id)) {
            walk->next = walk->eh.size;
            return sfb_fail(error, SFB_WORK_LIMIT, "CIE pointer", id_at);
        }
        return sfb_cfi_fde_read(out, &walk->eh, at, error);
    }
    return SFB_END;
}
