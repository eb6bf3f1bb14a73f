/*
 * A pack: many inputs of a fuzz target in one file, for those that nobody has given a name.
 *
 *     "SFBPACK1"      8 bytes
 *     count           4 bytes, little endian, at least 1
 *     size, input     4 bytes, little endian, and size bytes; count times
 *
 * Nothing follows the last input. The order means nothing.
 */
#ifndef FUZZ_PACK_H
#define FUZZ_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

#define PACK_MAGIC "SFBPACK1"

struct pack {
    struct sfb_reader rest;
    uint32_t count; /* what the header says, and what is there */
    uint32_t given;
};

/**
 * Opens a pack after a look at all of it: pack_next() gives exactly out->count inputs.
 *
 * @param out    written if the pack is good
 * @param bytes  borrowed until out is last used
 *
 * @return NULL, or what is wrong with the pack
 */
const char *pack_open(struct pack *out, const uint8_t *bytes, size_t size);

/** Gives the next input, a part of the pack; false after the last. */
bool pack_next(struct pack *pack, const uint8_t **input, size_t *size);

/** Whether a file is a pack by its name, which ends in .pack. */
bool pack_is_named(const char *path);

/** Reads a file into a block of its own size, to be freed; NULL, with errno, if that fails. */
uint8_t *pack_read_file(const char *path, size_t *size);

#endif
