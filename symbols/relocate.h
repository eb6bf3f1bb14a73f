/*
 * Links a section of a relocatable object: lays out its sections, and copies one with relocations
 * applied. From there on it is like a linked file's.
 */
#ifndef SYMBOLS_RELOCATE_H
#define SYMBOLS_RELOCATE_H

#include "symbols/object.h"

struct object_relocation {
    uint64_t place; /* offset in the section */
    uint64_t at;    /* file offset of the relocation */
    uint32_t type;
    bool to_code;       /* its symbol is defined in an executable section */
    const char *symbol; /* "": without a name */
    const char *field;  /* faulty field of the relocation; NULL: it was applied */
    const char *cause;  /* why it was not applied */
};

struct object_copy {
    uint8_t *bytes; /* of the section */
    size_t size;
    struct object_relocation *relocations; /* ascending by place */
    size_t relocation_count;
    struct object_fault fault; /* cause != NULL: unreadable relocations */
};

/**
 * Gives the sections of a relocatable object consecutive addresses; others have addresses. Without
 * it all lie at 0, which means missing here.
 */
void object_lay_out(struct object *object);

/**
 * Copies a section and applies its relocations, if the object is relocatable.
 *
 * Known types: the ones of x86-64, AArch64 and s390x in .sframe and .eh_frame. Other types, and
 * undefined symbols, change nothing. Only the section's first relocation table is read.
 *
 * @param out      for object_copy_free()
 * @param section  its index. Without bytes in the file (object_bytes()) the copy is empty
 *
 * @return false: no memory; nothing needs freeing
 */
bool object_relocate(struct object_copy *out, const struct object *object, size_t section);

void object_copy_free(struct object_copy *copy);

/**
 * The relocation type of a function's start in .sframe: a distance from the field.
 *
 * @param width  bytes of a start: 4 or 8
 * @param out    written if the machine is known
 */
bool object_start_type(const struct object *object, unsigned width, uint32_t *out);

/* Whether a type means no relocation. */
bool object_is_no_relocation(const struct object *object, uint32_t type);

#endif
