/* The build-id of a module: the note by which a file, its debug file and a process know each other. */
#ifndef OBJECT_BUILD_ID_H
#define OBJECT_BUILD_ID_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OBJECT_BUILD_ID_MAX = 64,                             /* bytes; linkers write 8 to 20 */
    OBJECT_BUILD_ID_TEXT = 2 * OBJECT_BUILD_ID_MAX + 1,   /* bytes of it as text, with the zero */
    OBJECT_BUILD_ID_PATH = OBJECT_BUILD_ID_TEXT + 18 + 1, /* of ".build-id/ab/cdef.debug" */
};

struct object_build_id {
    uint8_t bytes[OBJECT_BUILD_ID_MAX];
    size_t size; /* 0: none */
};

/* @return false: size is 0 or more than there is room for, and out has none */
bool object_build_id_set(struct object_build_id *out, const void *bytes, size_t size);

/* Takes the build-id of a file from its notes. @return false: it has none */
bool object_build_id_of(struct object_build_id *out, Elf *elf);

bool object_build_id_equal(const struct object_build_id *a, const struct object_build_id *b);

/* Writes it as hexadecimal text; "none" where there is none. */
void object_build_id_text(char out[OBJECT_BUILD_ID_TEXT], const struct object_build_id *id);

/*
 * Writes where folders of debug files keep it: ".build-id/ab/cdef" and an ending.
 *
 * @param ending  "" for the file itself, ".debug" for its debug file
 * @return false: it is too short for such a name
 */
bool object_build_id_path(char out[OBJECT_BUILD_ID_PATH], const struct object_build_id *id,
                          const char *ending);

#endif
