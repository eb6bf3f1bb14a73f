/*
 * The .eh_frame of an ELF file for the library's reader: with its sorted table, as a process finds
 * it, or all of its entries, as they stand in the section.
 */
#ifndef OBJECT_EH_FRAME_H
#define OBJECT_EH_FRAME_H

#include <sfb/eh_frame.h>

#include "object/object.h"

/* ---- by PT_GNU_EH_FRAME ---- */

struct object_eh_frame {
    struct sfb_eh_frame eh; /* of a stretch of memory with both tables */
    uint64_t hdr_size;      /* bytes of .eh_frame_hdr */
    uint8_t *memory;        /* what eh borrows where one segment does not hold both; else NULL */
    enum sfb_status status; /* SFB_NO_EH_FRAME, SFB_BAD_ELF, or what the reader of the table says */
};

/**
 * Finds .eh_frame_hdr and .eh_frame by PT_GNU_EH_FRAME.
 *
 * @param object  a linked file for x86-64 or AArch64, borrowed until out is closed
 *
 * @param out     written whatever is returned; of a failure its status alone
 *
 * @return false: there are none, or they cannot be read; the fault is written, nothing is to be
 *         closed
 */
bool object_eh_frame_open(struct object_eh_frame *out, struct object_fault *fault,
                          const struct object *object);

/* Where in the file a byte of the view is, by its offset there; 0: it is not in the file. */
uint64_t object_eh_frame_offset(const struct object_eh_frame *view, const struct object *object,
                                uint64_t offset);

void object_eh_frame_close(struct object_eh_frame *view);

/* ---- by its section ---- */

struct object_cfi_place {
    size_t section; /* its index; 0: there are no section headers, and the segment leads to it */
    uint64_t address, offset, size;
    enum {
        OBJECT_CFI_FOUND,
        OBJECT_CFI_NONE,
        OBJECT_CFI_MACHINE /* a machine whose rows are not read */
    } result;
    const char *reason; /* why there is none; else NULL */
};

/**
 * Finds the bytes of .eh_frame: by its section or, where no section headers are, by
 * PT_GNU_EH_FRAME.
 *
 * The segment says where .eh_frame begins. It ends where the last entry of the segment's table does.
 */
struct object_cfi_place object_find_cfi(const struct object *object);

#endif
