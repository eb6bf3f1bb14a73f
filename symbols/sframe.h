/* The .sframe of an ELF file. */
#ifndef SYMBOLS_SFRAME_H
#define SYMBOLS_SFRAME_H

#include "symbols/object.h"

struct object_sframe {
    const uint8_t *data; /* in the image */
    size_t size;
    uint64_t address; /* as linked, or laid out */
    size_t section;   /* its index; 0: found by the segment */
};

enum object_found {
    OBJECT_FOUND,
    OBJECT_ABSENT, /* a sound file without it */
    OBJECT_FAULTY  /* see the fault */
};

/**
 * Finds the section by name, else by PT_GNU_SFRAME.
 *
 * @param out    written on OBJECT_FOUND
 * @param fault  written on OBJECT_FAULTY
 */
enum object_found object_find_sframe(struct object_sframe *out, struct object_fault *fault,
                                     const struct object *object);

/**
 * Finds it as a process does, by PT_GNU_SFRAME.
 *
 * A segment without bytes is ignored: objcopy -R .sframe leaves it behind.
 */
enum object_found object_find_sframe_segment(struct object_sframe *out, struct object_fault *fault,
                                             const struct object *object);

#endif
