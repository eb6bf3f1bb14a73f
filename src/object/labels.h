/*
 * What .symtab calls places in code: functions, and other labels. Not those of $x and $d, by which
 * AArch64 marks code and data.
 */
#ifndef OBJECT_LABELS_H
#define OBJECT_LABELS_H

#include "object/object.h"

struct object_label {
    uint64_t start, end; /* equal: a label without a size */
    const char *name;    /* in the image */
};

/**
 * Reads them into object->labels, ascending by start, then by end; in a relocatable object as it was
 * laid out.
 *
 * @return false: no memory
 */
bool object_read_labels(struct object *object);

/* The last one that starts at or before an address; NULL: there is none. */
const struct object_label *object_label_before(const struct object *object, uint64_t address);

#endif
