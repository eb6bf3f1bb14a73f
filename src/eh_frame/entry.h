/* The entries of .eh_frame: FDEs and their CIEs. */
#ifndef SFB_EH_FRAME_ENTRY_H
#define SFB_EH_FRAME_ENTRY_H

#include "sfb/eh_frame.h"

/* Reads the entry at an offset, and the common one that it names. */
enum sfb_status sfb_cfi_fde_read(struct sfb_cfi_fde *out, const struct sfb_eh_frame *eh,
                                 uint32_t offset, struct sfb_error *error);

#endif
