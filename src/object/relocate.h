/*
 * What a linker would do to a section of a relocatable object: addresses for its sections, and a copy
 * of one with its relocations applied. From there on it is like that of a file that is linked.
 */
#ifndef OBJECT_RELOCATE_H
#define OBJECT_RELOCATE_H

#include "object/object.h"

struct object_relocation {
    uint64_t place; /* from the start of the section */
    uint64_t at;    /* of the relocation itself in the file */
    uint32_t type;
    bool to_code;       /* its symbol is defined, in an executable section */
    const char *symbol; /* "": it has no name */
    const char *field;  /* of the relocation; NULL: it was applied */
    const char *cause;  /* why it was not */
};

struct object_copy {
    uint8_t *bytes; /* of the section */
    size_t size;
    struct object_relocation *relocations; /* ascending by place */
    size_t relocation_count;
    struct object_fault fault; /* cause != NULL: there are relocations, and they cannot be read */
};

/**
 * Gives the sections of a relocatable object addresses, one behind the other. (Those of others have
 * theirs.) Without this all lie at 0, where nothing is that is here.
 */
void object_lay_out(struct object *object);

/**
 * Copies a section and applies its relocations, if the object is relocatable.
 *
 * Types are those of x86-64, AArch64 and s390x that assemblers write into .sframe and .eh_frame;
 * others, and those to symbols that are not defined, change nothing. One table of relocations is
 * read, the first for the section.
 *
 * @param out      for object_copy_free()
 * @param section  its index. One without bytes in the file (object_bytes()) has an empty copy
 *
 * @return false: no memory; nothing is to be freed
 */
bool object_relocate(struct object_copy *out, const struct object *object, size_t section);

void object_copy_free(struct object_copy *copy);

/**
 * The one type that the starts of functions in .sframe have: a distance from the field.
 *
 * @param width  bytes of a start: 4 or 8
 * @param out    written if the machine is known
 */
bool object_start_type(const struct object *object, unsigned width, uint32_t *out);

/* Whether a type says that there is nothing to do. */
bool object_is_no_relocation(const struct object *object, uint32_t type);

#endif
