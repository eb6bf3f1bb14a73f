/*
 * Writes the modules of this process into the caller's buffer:
 *
 *     | image map ->        | path of one module | modules, by address |
 *
 * Compact ImageMap is smallest by increasing address, but the loader's lists have another order. So
 * all modules are collected at the end of the buffer and sorted there. An entry is smaller there than
 * in the map, and entries are removed from the front.
 */
#include <stdbool.h>
#include <string.h>

#include "sfb/image_map.h"
#include "sframe_backtrace.h"
#include "unwind/process/image_list.h"

/* Platform text of the map. */
#define PLATFORM "Linux"

/* Entries grow down from the end of the buffer, aligned. */
struct collection {
    struct sfb_listed_image *at;
    size_t count;
};

/* @return number of modules that did not fit */
static uint32_t collect(struct collection *out, struct sfb_image_list *list, uint8_t *buffer,
                        size_t size)
{
    uintptr_t end = ((uintptr_t)buffer + size) & ~(uintptr_t)7;
    struct sfb_listed_image image;
    uint32_t left_out = 0;

    out->at = (struct sfb_listed_image *)end; /* NOLINT(performance-no-int-to-ptr) */
    out->count = 0;
    while (sfb_image_list_next(list, &image)) {
        if ((uintptr_t)out->at - (uintptr_t)buffer < sizeof image) {
            left_out++;
            continue;
        }
        *--out->at = image;
        out->count++;
    }
    return left_out;
}

static void sift(struct sfb_listed_image *at, size_t i, size_t count)
{
    struct sfb_listed_image image = at[i];

    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && at[child + 1].address > at[child].address)
            child++;
        if (at[child].address <= image.address)
            break;
        at[i] = at[child];
    }
    at[i] = image;
}

/* Heap sort: no recursion, no memory, no slow input order. */
static void sort(const struct collection *c)
{
    for (size_t i = c->count / 2; i-- > 0;)
        sift(c->at, i, c->count);
    for (size_t i = c->count; i-- > 1;) {
        struct sfb_listed_image last = c->at[i];

        c->at[i] = c->at[0];
        c->at[0] = last;
        sift(c->at, 0, i);
    }
}

/*
 * Puts a path behind the bytes that the map may still use for it.
 *
 * @return false: no room
 */
static bool read_path(struct sfb_image *image, struct sfb_image_list *list,
                      const struct sfb_listed_image *listed, uint8_t *from, uint8_t *to)
{
    /* Lengths and codes take less than 1/32 of a path. The rest of an image takes less than 128 bytes. */
    size_t fixed = 128, room = (size_t)(to - from);

    if (room < fixed)
        return false;
    room = (room - fixed) / 2 - (room - fixed) / 64;
    if (room > SFB_IMAGE_PATH_MAX)
        room = SFB_IMAGE_PATH_MAX;
    image->path = (const char *)(to - room);
    image->path_size = sfb_image_list_path(list, listed, (char *)(to - room), room);
    return image->path_size < room;
}

/* @return false: the image is left out */
static bool put_image(struct sfb_image_map_encoder *encoder, struct sfb_image_list *list,
                      const struct sfb_listed_image *listed, uint8_t *limit)
{
    struct sfb_loaded loaded;
    struct sfb_image image = { 0 };

    if (!sfb_image_list_find(list, listed, &loaded))
        return true; /* unloaded meanwhile */
    image.base = loaded.start;
    image.end_of_text = loaded.text_end;
    image.build_id = loaded.build_id.size > 0 ? loaded.build_id.bytes : NULL;
    image.build_id_size = loaded.build_id.size;
    if (!read_path(&image, list, listed, encoder->pos, limit))
        return false;
    return sfb_image_map_encoder_put(encoder, &image) == SFB_OK;
}

ssize_t sframe_backtrace_image_map(void *buffer, size_t size, uint32_t *left_out)
{
    struct sfb_image_map_prefix prefixes[SFB_IMAGE_MAP_PREFIXES];
    struct sfb_image_map_encoder encoder;
    struct sfb_image_list list;
    struct collection modules;
    uint32_t no_room;
    enum sfb_status status;

    if (!buffer)
        return -SFB_BAD_ARGUMENT;
    status = sfb_image_map_encoder_init(&encoder, buffer, size, 64, PLATFORM, prefixes,
                                        SFB_IMAGE_MAP_PREFIXES);
    if (status != SFB_OK)
        return -(ssize_t)status;
    sfb_image_list_begin(&list);
    no_room = collect(&modules, &list, encoder.pos, size - (size_t)(encoder.pos - encoder.start));
    sort(&modules);
    for (size_t i = 0; i < modules.count; i++) {
        struct sfb_listed_image next = modules.at[i];

        if (!put_image(&encoder, &list, &next, (uint8_t *)&modules.at[i + 1]))
            no_room++;
    }
    if (left_out)
        *left_out = no_room;
    return (ssize_t)sfb_image_map_encoder_end(&encoder);
}
