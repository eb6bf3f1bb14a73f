/* The modules of a Compact ImageMap, as those of a crash report. */
#ifndef IMAGE_MODULES_H
#define IMAGE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaded_modules.h"
#include "sfb/status.h"

struct image_modules {
    struct loaded_module *modules;
    size_t count;
};

/* Whether bytes are an image map and no text: its first byte is no character. */
bool image_modules_are_in(const uint8_t *data, size_t size);

/*
 * Reads an image map.
 *
 * @param out  written on SFB_OK; to be freed
 * @return SFB_OK, SFB_NO_RESOURCE, or as the decoder says; error says where
 */
enum sfb_status image_modules_read(struct image_modules *out, const uint8_t *data, size_t size,
                                   struct sfb_error *error);

void image_modules_free(struct image_modules *images);

#endif
