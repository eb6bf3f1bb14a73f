/* Build-ids: the note that identifies a file, its debug file and a process's module. */
#ifndef SYMBOLS_BUILD_ID_H
#define SYMBOLS_BUILD_ID_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OBJECT_BUILD_ID_MAX = 64,                             /* bytes; linkers write 8 to 20 */
    OBJECT_BUILD_ID_TEXT = 2 * OBJECT_BUILD_ID_MAX + 1,   /* bytes of its text, with the zero */
    OBJECT_BUILD_ID_PATH = OBJECT_BUILD_ID_TEXT + 18 + 1, /* of ".build-id/ab/cdef.debug" */
};

struct object_build_id {
    uint8_t bytes[OBJECT_BUILD_ID_MAX];
    size_t size; /* 0: missing */
};

/* @return false: size is 0 or above the maximum, and out is empty */
bool object_build_id_set(struct object_build_id *out, const void *bytes, size_t size);

/* Reads the build-id from a file's notes. @return false: missing */
bool object_build_id_of(struct object_build_id *out, Elf *elf);

/*
 * Reads it from the first bytes of a loaded file: sections, which lie behind them, are not asked for.
 *
 * @param head  writable; its header is changed
 * @return false: missing, or further on
 */
bool object_build_id_of_head(struct object_build_id *out, uint8_t *head, size_t size);

bool object_build_id_equal(const struct object_build_id *a, const struct object_build_id *b);

/* Writes hexadecimal text, or "none". */
void object_build_id_text(char out[OBJECT_BUILD_ID_TEXT], const struct object_build_id *id);

/*
 * Writes its path in folders of debug files: ".build-id/ab/cdef" and an ending.
 *
 * @param ending  "" for the file itself, ".debug" for its debug file
 * @return false: it is too short for a path
 */
bool object_build_id_path(char out[OBJECT_BUILD_ID_PATH], const struct object_build_id *id,
                          const char *ending);

#endif
