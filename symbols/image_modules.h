/* Converts a Compact ImageMap to loaded modules. */
#ifndef SYMBOLS_IMAGE_MODULES_H
#define SYMBOLS_IMAGE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/status.h"
#include "symbols/loaded_modules.h"

struct image_modules {
    struct loaded_module *modules;
    size_t count;
};

/* Whether bytes are an image map rather than text: its first byte is no character. */
bool image_modules_are_in(const uint8_t *data, size_t size);

/*
 * Reads an image map.
 *
 * @param out  written on SFB_OK; needs freeing
 * @return SFB_OK, SFB_NO_RESOURCE, or a status of the decoder; error has the offset
 */
enum sfb_status image_modules_read(struct image_modules *out, const uint8_t *data, size_t size,
                                   struct sfb_error *error);

void image_modules_free(struct image_modules *images);

#endif
