/*
 * Images to bytes.
 *
 * A path is written as prefixes that the reader already knows, each time the longest, and the rest as one text.
 * The reader makes new prefixes of that text only. So each lies in the bytes written here, and is remembered by
 * its place there.
 */
#include "sfb/image_map.h"

#include <string.h>

#include "cbf/format.h"
#include "cbf/image_map_format.h"
#include "cbf/put.h"

/* Fixed size of the number of images: readers skip leading zeros. */
enum { COUNT_SIZE = 3 };
_Static_assert(SFB_IMAGES_MAX < 1 << COUNT_SIZE * IMAGE_COUNT_BITS, "it fits");
_Static_assert(IMAGE_PATH_FIRST_CODE + SFB_IMAGE_MAP_PREFIXES - 1 < IMAGE_PATH_CODES_SHORT + 256,
               "a code takes a byte at most");

enum sfb_status sfb_image_map_encoder_init(struct sfb_image_map_encoder *out, void *buffer,
                                           size_t size, unsigned word_bits, const char *platform,
                                           struct sfb_image_map_prefix *prefixes,
                                           size_t prefix_count)
{
    unsigned code = word_bits == 16 ? 0 : word_bits == 32 ? 1 : 2;
    size_t platform_size = 0;
    uint8_t *at = buffer;

    if (!out || !buffer || !platform || word_bits != 16u << code)
        return SFB_BAD_ARGUMENT;
    while (platform_size <= IMAGE_PLATFORM_MAX && platform[platform_size])
        platform_size++;
    if (platform_size > IMAGE_PLATFORM_MAX)
        return SFB_BAD_ARGUMENT;
    if (size < 2 + platform_size + COUNT_SIZE)
        return SFB_BUFFER_TOO_SMALL;
    if (size > UINT32_MAX)
        size = UINT32_MAX;
    *out = (struct sfb_image_map_encoder){
        .start = at,
        .limit = at + size,
        .shift = 64 - word_bits,
        .prefixes = prefixes,
        .prefix_room = prefixes && prefix_count > SFB_IMAGE_MAP_PREFIXES ? SFB_IMAGE_MAP_PREFIXES
                       : prefixes                                        ? (uint32_t)prefix_count
                                                                         : 0,
    };
    *at++ = (uint8_t)(CBF_VERSION << CBF_INFO_VERSION_SHIFT | code);
    *at++ = (uint8_t)platform_size;
    memcpy(at, platform, platform_size);
    out->count = at + platform_size;
    out->pos = out->count + COUNT_SIZE;
    return SFB_OK;
}

/* The place of the next byte. Past the limit, nothing is written. */
struct output {
    uint8_t *at;
    const uint8_t *limit;
    bool full;
};

static void put_byte(struct output *o, unsigned byte)
{
    if (o->at == o->limit)
        o->full = true;
    else
        *o->at++ = (uint8_t)byte;
}

static void put_bytes(struct output *o, const void *bytes, size_t size)
{
    if (size > (size_t)(o->limit - o->at)) {
        o->full = true;
        return;
    }
    if (bytes)
        memcpy(o->at, bytes, size);
    o->at += size;
}

static void put_number(struct output *o, uint64_t value, unsigned size)
{
    for (unsigned i = size; i-- > 0;)
        put_byte(o, value >> 8 * i & 0xff);
}

static void put_count(struct output *o, size_t count)
{
    if (count >> IMAGE_COUNT_BITS)
        put_byte(o, IMAGE_COUNT_MORE | (unsigned)(count >> IMAGE_COUNT_BITS));
    put_byte(o, count & (IMAGE_COUNT_MORE - 1));
}

static void put_addresses(struct output *o, const struct sfb_image_map_encoder *e, uint64_t base,
                          uint64_t end)
{
    uint64_t relative = base - e->base;
    unsigned base_count = cbf_signed_count(base), relative_count = cbf_signed_count(relative);
    unsigned end_count = cbf_signed_count(end - base);
    bool is_relative = relative_count < base_count;
    unsigned count = is_relative ? relative_count : base_count;

    put_byte(o, (is_relative ? IMAGE_RELATIVE : 0u) | count << IMAGE_BASE_SHIFT | end_count);
    put_number(o, is_relative ? relative : base, count + 1);
    put_number(o, end - base, end_count + 1);
}

/* --- Paths ------------------------------------------------------------------------------------ */

/* A text is stored as strings of limited size, each behind its length byte. @return place of byte i */
static size_t place_in_text(size_t i)
{
    return i + i / IMAGE_PATH_STRING_MAX;
}

static bool begins_with(const struct sfb_image_map_encoder *e, const struct sfb_image_map_prefix *p,
                        const char *path, size_t size)
{
    if (p->size > size)
        return false;
    for (uint32_t i = 0; i < p->size; i++)
        if (e->start[p->at + place_in_text(i)] != (uint8_t)path[i])
            return false;
    return true;
}

/* @return bytes of the longest known prefix of a path, 0: not found. Also gives its code. */
static size_t longest_prefix(const struct sfb_image_map_encoder *e, const char *path, size_t size,
                             unsigned *code)
{
    size_t longest = 0;

    for (unsigned i = 0; i < IMAGE_MAP_FIXED_COUNT; i++) {
        const struct image_map_fixed *fixed = &image_map_fixed[i];

        if (fixed->size > longest && fixed->size <= size &&
            memcmp(path, fixed->text, fixed->size) == 0) {
            longest = fixed->size;
            *code = i;
        }
    }
    for (uint32_t i = 0; i < e->prefix_count; i++) {
        if (e->prefixes[i].size > longest && begins_with(e, &e->prefixes[i], path, size)) {
            longest = e->prefixes[i].size;
            *code = IMAGE_PATH_FIRST_CODE + i;
        }
    }
    return longest;
}

static void put_expand(struct output *o, unsigned code)
{
    if (code < IMAGE_PATH_CODES_SHORT) {
        put_byte(o, IMAGE_PATH_EXPAND | code);
    } else {
        put_byte(o, IMAGE_PATH_EXPAND_LONG);
        put_byte(o, code - IMAGE_PATH_CODES_SHORT);
    }
}

static void put_text(struct output *o, const char *text, size_t size)
{
    while (size > 0) {
        size_t part = size < IMAGE_PATH_STRING_MAX ? size : IMAGE_PATH_STRING_MAX;

        put_byte(o, (unsigned)part);
        put_bytes(o, text, part);
        text += part;
        size -= part;
    }
}

/* Remembers the prefixes that the reader makes of a text at `at`, as far as there is room. */
static void remember_prefixes(struct sfb_image_map_encoder *e, uint32_t at, const char *text,
                              size_t size)
{
    for (size_t i = 1; i < size; i++) {
        if (!image_map_is_separator(text[i]))
            continue;
        if (e->codes == e->prefix_count && e->prefix_count < e->prefix_room)
            e->prefixes[e->prefix_count++] =
                (struct sfb_image_map_prefix){ .at = at, .size = (uint32_t)i };
        e->codes++;
    }
}

enum sfb_status sfb_image_map_encoder_put(struct sfb_image_map_encoder *encoder,
                                          const struct sfb_image *image)
{
    struct sfb_image_map_encoder *e = encoder;
    struct output o = { .at = e->pos, .limit = e->limit };
    const char *path = image->path ? image->path : "";
    size_t left = image->path ? image->path_size : 0, size;
    unsigned code = 0;
    uint32_t text_at;

    if (image->end_of_text <= image->base || image->end_of_text > UINT64_MAX >> e->shift ||
        image->build_id_size > SFB_IMAGE_BUILD_ID_MAX || left > SFB_IMAGE_PATH_MAX)
        return SFB_BAD_ARGUMENT;
    if (e->images == SFB_IMAGES_MAX)
        return SFB_BUFFER_FULL;
    put_addresses(&o, e, cbf_sign_extend(image->base, e->shift),
                  cbf_sign_extend(image->end_of_text, e->shift));
    put_count(&o, image->build_id_size);
    put_bytes(&o, image->build_id, image->build_id_size);
    while ((size = longest_prefix(e, path, left, &code)) > 0) {
        put_expand(&o, code);
        path += size;
        left -= size;
    }
    text_at = (uint32_t)(o.at - e->start) + 1;
    put_text(&o, path, left);
    put_byte(&o, IMAGE_PATH_END);
    if (o.full)
        return SFB_BUFFER_FULL;
    remember_prefixes(e, text_at, path, left);
    e->pos = o.at;
    e->base = cbf_sign_extend(image->base, e->shift);
    e->images++;
    return SFB_OK;
}

size_t sfb_image_map_encoder_end(struct sfb_image_map_encoder *encoder)
{
    for (unsigned i = 0; i < COUNT_SIZE; i++)
        encoder->count[i] = (uint8_t)((encoder->images >> IMAGE_COUNT_BITS * (COUNT_SIZE - 1 - i) &
                                       (IMAGE_COUNT_MORE - 1)) |
                                      (i + 1 < COUNT_SIZE ? IMAGE_COUNT_MORE : 0));
    return (size_t)(encoder->pos - encoder->start);
}
