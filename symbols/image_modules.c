#include "symbols/image_modules.h"

#include <stdlib.h>
#include <string.h>

#include "sfb/image_map.h"
#include "util/grow.h"

/* The decoder's memory: total bytes of paths, more than any real map has. */
enum { TEXT_SIZE = 1 << 24, PREFIXES = 1 << 20 };

bool image_modules_are_in(const uint8_t *data, size_t size)
{
    return size > 0 && data[0] < ' ' && data[0] != '\t' && data[0] != '\n' && data[0] != '\r';
}

/* @return false: no memory */
static bool add(struct image_modules *out, size_t *room, const struct sfb_image *image)
{
    struct loaded_module *m;

    if (!array_make_room(&out->modules, out->count, room, sizeof *out->modules))
        return false;
    m = &out->modules[out->count];
    *m = (struct loaded_module){ .start = image->base, .end = image->end_of_text };
    /* Linkers make no longer ones: no file here has it. */
    m->size = image->build_id_size < sizeof m->build_id ? image->build_id_size : sizeof m->build_id;
    if (m->size > 0)
        memcpy(m->build_id, image->build_id, m->size);
    m->path = strndup(image->path ? image->path : "", image->path_size);
    if (!m->path)
        return false;
    out->count++;
    return true;
}

enum sfb_status image_modules_read(struct image_modules *out, const uint8_t *data, size_t size,
                                   struct sfb_error *error)
{
    /* A prefix takes a byte of the map at least: room for more is never used, and would be cleared for each map. */
    const size_t prefixes = size < PREFIXES ? size : PREFIXES;
    struct sfb_image_map_room lent = { .text = malloc(TEXT_SIZE),
                                       .text_size = TEXT_SIZE,
                                       .prefixes = calloc(prefixes + 1, sizeof *lent.prefixes),
                                       .prefix_count = prefixes };
    struct image_modules read = { .count = 0 };
    struct sfb_image_map_decoder decoder;
    enum sfb_status status = SFB_NO_RESOURCE;
    struct sfb_image image;
    size_t room = 0;

    *error = (struct sfb_error){ .status = SFB_NO_RESOURCE, .field = "memory" };
    if (lent.text && lent.prefixes)
        status = sfb_image_map_decoder_init(&decoder, data, size, &lent, error);
    while (status == SFB_OK &&
           (status = sfb_image_map_decoder_next(&decoder, &image, error)) == SFB_OK)
        if (!add(&read, &room, &image))
            status = SFB_NO_RESOURCE;
    free(lent.text);
    free(lent.prefixes);
    if (status == SFB_END) {
        *out = read;
        return SFB_OK;
    }
    image_modules_free(&read);
    return status;
}

void image_modules_free(struct image_modules *images)
{
    for (size_t i = 0; i < images->count; i++)
        free(images->modules[i].path);
    free(images->modules);
    *images = (struct image_modules){ .count = 0 };
}
