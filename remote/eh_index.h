/*
 * An .eh_frame_hdr for a file without one: ld writes none for static programs, and its sorted table is
 * how a pc is found.
 */
#ifndef REMOTE_EH_INDEX_H
#define REMOTE_EH_INDEX_H

#include <stdbool.h>

#include "sfb/eh_frame.h"
#include "symbols/object.h"

/*
 * @param bias    how far above its linked addresses the file is loaded
 * @param memory  borrowed by out; for free()
 *
 * @return false: no .eh_frame, or none that can be indexed
 */
bool remote_eh_index(struct sfb_eh_frame *out, void **memory, const struct object *object,
                     uint64_t bias);

#endif
