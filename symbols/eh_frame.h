/*
 * The .eh_frame of an ELF file for the library's reader: by its sorted table, as in a process, or
 * all entries in order of the section.
 */
#ifndef SYMBOLS_EH_FRAME_H
#define SYMBOLS_EH_FRAME_H

#include <sfb/eh_frame.h>

#include "symbols/object.h"

/* ---- by PT_GNU_EH_FRAME ---- */

struct object_eh_frame {
    struct sfb_eh_frame eh; /* of memory with both tables */
    uint64_t hdr_size;      /* bytes of .eh_frame_hdr */
    uint8_t *memory;        /* borrowed by eh if one segment does not hold both; else NULL */
    enum sfb_status status; /* SFB_NO_EH_FRAME, SFB_BAD_ELF, or a status of the table's reader */
};

/**
 * Finds .eh_frame_hdr and .eh_frame by PT_GNU_EH_FRAME.
 *
 * @param object  a linked file for x86-64 or AArch64, borrowed until out is closed
 *
 * @param out     always written; on failure its status alone
 *
 * @return false: missing or unreadable; the fault is written, nothing needs closing
 */
bool object_eh_frame_open(struct object_eh_frame *out, struct object_fault *fault,
                          const struct object *object);

/* The file offset of a byte of the view; 0: not in the file. */
uint64_t object_eh_frame_offset(const struct object_eh_frame *view, const struct object *object,
                                uint64_t offset);

void object_eh_frame_close(struct object_eh_frame *view);

/* ---- by its section ---- */

struct object_cfi_place {
    size_t section; /* its index; 0: found by the segment, without section headers */
    uint64_t address, offset, size;
    enum {
        OBJECT_CFI_FOUND,
        OBJECT_CFI_NONE,
        OBJECT_CFI_MACHINE /* a machine without a reader */
    } result;
    const char *reason; /* why it is missing; else NULL */
};

/**
 * Finds the bytes of .eh_frame: by its section or, without section headers, by PT_GNU_EH_FRAME.
 *
 * The segment has its beginning. Its end is that of the last entry in the segment's table.
 */
struct object_cfi_place object_find_cfi(const struct object *object);

#endif
