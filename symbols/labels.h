/* The symbols of code in .symtab: functions and other labels, without AArch64's marks $x and $d. */
#ifndef SYMBOLS_LABELS_H
#define SYMBOLS_LABELS_H

#include "symbols/object.h"

struct object_label {
    uint64_t start, end; /* equal: a label without a size */
    const char *name;    /* in the image */
    unsigned file;       /* local symbols: the number of the STT_FILE before it; else 0 */
};

/**
 * Reads them into object->labels, ascending by start, then by end; laid out in a relocatable
 * object.
 *
 * @return false: no memory
 */
bool object_read_labels(struct object *object);

/* The last one that starts at or before an address; may be NULL. */
const struct object_label *object_label_before(const struct object *object, uint64_t address);

#endif
