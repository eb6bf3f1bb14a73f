/* What the parts of src/eh_frame share: windows on the section, and numbers in it. */
#ifndef SFB_EH_FRAME_TABLE_H
#define SFB_EH_FRAME_TABLE_H

#include "base/leb128.h"
#include "sfb/abi.h"
#include "sfb/eh_frame.h"

/* The bytes [from, end) of the view. */
static inline struct sfb_reader sfb_eh_window(const struct sfb_eh_frame *eh, uint64_t from,
                                              uint64_t end)
{
    struct sfb_reader r = { .swap = eh->swap };

    if (end > eh->size)
        end = eh->size;
    if (from < eh->gap_end && end > eh->gap)
        end = eh->gap;
    if (from <= end) {
        r.pos = eh->data + from;
        r.left = (size_t)(end - from);
    } else {
        r.failed = true;
    }
    return r;
}

static inline uint32_t sfb_eh_offset(const struct sfb_eh_frame *eh, const struct sfb_reader *r)
{
    return (uint32_t)(r->pos - eh->data);
}

/* @return false: the encoding is none that is read, or the bytes end */
bool sfb_eh_pointer(const struct sfb_eh_frame *eh, struct sfb_reader *r, uint8_t encoding,
                    uint64_t *out);

/*
 * sfb_eh_frame_open() in two steps, for who has little stack, and leaves anything in *eh where it
 * fails: where it lies, and then what its header says.
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

/* Reads the entry at an offset, and the common one that it names. */
enum sfb_status sfb_cfi_fde_read(struct sfb_cfi_fde *out, const struct sfb_eh_frame *eh,
                                 uint32_t offset, struct sfb_error *error);

/* Bytes of a start and an address in the table. */
enum { SFB_EH_PAIR_SIZE = 8 };

/*
 * sfb_eh_frame_find() for who has a budget.
 *
 * @param work  bytes of CFI instructions that may be run; those of the entry are taken from it
 *
 * @return as there; SFB_WORK_LIMIT: the entry has more, work is 0 now
 */
enum sfb_status sfb_eh_frame_find_within(const struct sfb_eh_frame *eh, uint64_t pc, uint32_t *work,
                                         struct sfb_rule *out, struct sfb_error *error);

/* sfb_eh_frame_fde_find(), which also says where in the table that is: the index of a pair. */
enum sfb_status sfb_eh_frame_entry_find(const struct sfb_eh_frame *eh, uint64_t pc, uint32_t *entry,
                                        struct sfb_cfi_fde *out, struct sfb_error *error);

#endif
