/* The .eh_frame of an ELF file, as the library reads it: a stretch of memory with both tables. */
#ifndef EH_FRAME_VIEW_H
#define EH_FRAME_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <sfb/eh_frame.h>

#include "elf_file.h"

struct eh_frame_view {
    struct sfb_eh_frame eh;
    uint64_t hdr_size; /* bytes of .eh_frame_hdr */
    uint8_t *memory;   /* what eh borrows where one segment does not hold both; else NULL */
};

/*
 * Finds both tables by PT_GNU_EH_FRAME.
 *
 * @return false: there are none, or they cannot be read; the fault is written, nothing is to be
 *         closed
 */
bool eh_frame_view_open(struct eh_frame_view *out, struct elf_fault *fault,
                        const struct elf_file *file);

/* Where in the file a byte of the view is, by its offset there; 0 if it is not in the file. */
uint64_t eh_frame_view_at(const struct eh_frame_view *view, const struct elf_file *file,
                          uint64_t offset);

void eh_frame_view_close(struct eh_frame_view *view);

#endif
