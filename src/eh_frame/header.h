/* The table of .eh_frame_hdr beside <sfb/eh_frame.h>: opened in two steps, searched for a pair. */
#ifndef SFB_EH_FRAME_HEADER_H
#define SFB_EH_FRAME_HEADER_H

#include "sfb/eh_frame.h"

/* Bytes of a start and an address in the table. */
enum { SFB_EH_PAIR_SIZE = 8 };

/*
 * sfb_eh_frame_open() in two steps, for callers with little stack: first the table's place, then its
 * header. On failure *eh is undefined.
 *
 * @return (place) false: bad arguments
 */
static inline bool sfb_eh_frame_place(struct sfb_eh_frame *eh, const void *data, size_t size,
                                      uint64_t address, uint64_t hdr_address, enum sfb_abi abi)
{
    const bool big = abi == SFB_ABI_AARCH64_BE;
    const uint64_t hdr = hdr_address - address;

    if (!data || size > UINT32_MAX || hdr > size)
        return false;
    *eh = (struct sfb_eh_frame){ .data = data,
                                 .address = address,
                                 .size = (uint32_t)size,
                                 .hdr = (uint32_t)hdr,
                                 .abi = (uint8_t)abi,
                                 .swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) };
    return true;
}

enum sfb_status sfb_eh_frame_read_header(struct sfb_eh_frame *eh, struct sfb_error *error);

/* sfb_eh_frame_fde_find() that also gives the index of the entry's pair in the table. */
enum sfb_status sfb_eh_frame_entry_find(const struct sfb_eh_frame *eh, uint64_t pc, uint32_t *entry,
                                        struct sfb_cfi_fde *out, struct sfb_error *error);

#endif
