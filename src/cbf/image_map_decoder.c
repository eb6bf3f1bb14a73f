/*
 * Bytes to images.
 *
 * An image is validated as a whole before any of it is kept, as a frame of CBF is. Its path is composed behind the
 * paths of earlier images: later paths take their prefixes from there.
 */
#include "sfb/image_map.h"

#include <string.h>

#include "cbf/format.h"
#include "cbf/image_map_format.h"

static enum sfb_status fail(struct sfb_error *error, enum sfb_status status, const char *field,
                            size_t offset)
{
    if (error != NULL)
        *error = (struct sfb_error){ .status = status, .field = field, .offset = offset };
    return status;
}

/* The decoder's members that a successful call changes. */
struct input {
    const struct sfb_image_map_decoder *d;
    size_t offset, text_used, prefix_count;
    struct sfb_error error;
};

static enum sfb_status refuse(struct input *in, enum sfb_status status, const char *field,
                              size_t offset)
{
    return fail(&in->error, status, field, offset);
}

static enum sfb_status read_byte(struct input *in, const char *field, unsigned *out)
{
    if (in->offset == in->d->size)
        return refuse(in, SFB_CBF_TRUNCATED_OPERAND, field, in->offset);
    *out = in->d->data[in->offset++];
    return SFB_OK;
}

/* Gives the address of the next `size` bytes; not NULL. */
static enum sfb_status read_bytes(struct input *in, const char *field, size_t size,
                                  const uint8_t **out)
{
    if (size > in->d->size - in->offset) {
        refuse(in, SFB_CBF_TRUNCATED_OPERAND, field, in->d->size);
        return SFB_CBF_TRUNCATED_OPERAND;
    }
    *out = in->d->data + in->offset;
    in->offset += size;
    return SFB_OK;
}

static enum sfb_status read_count(struct input *in, const char *field, size_t max, size_t *out)
{
    size_t offset = in->offset, value = 0;
    enum sfb_status status;
    unsigned byte = 0;

    do {
        status = read_byte(in, field, &byte);
        if (status != SFB_OK)
            return status;
        value = value << IMAGE_COUNT_BITS | (byte & (IMAGE_COUNT_MORE - 1));
        if (value > max)
            return refuse(in, SFB_CBF_TOO_WIDE, field, offset);
    } while (byte & IMAGE_COUNT_MORE);
    *out = value;
    return SFB_OK;
}

/* Reads a signed number of `size` bytes, sign-extended to the map's word. */
static enum sfb_status read_number(struct input *in, const char *field, unsigned size,
                                   uint64_t *out)
{
    size_t offset = in->offset;
    const uint8_t *at = NULL;
    enum sfb_status status = read_bytes(in, field, size, &at);
    uint64_t value = 0;

    if (status != SFB_OK)
        return status;
    if (size > (64 - in->d->shift) / 8)
        return refuse(in, SFB_CBF_TOO_WIDE, field, offset);
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | at[i];
    *out = cbf_sign_extend(value, 64 - 8 * size);
    return SFB_OK;
}

enum sfb_status sfb_image_map_decoder_init(struct sfb_image_map_decoder *out, const void *data,
                                           size_t size, const struct sfb_image_map_room *room,
                                           struct sfb_error *error)
{
    struct sfb_image_map_decoder d = { .data = data, .size = size };
    struct input in = { .d = &d };
    unsigned code, platform_size = 0;
    const uint8_t *platform = NULL;
    enum sfb_status status;
    size_t count = 0;

    if (!out || !room || (!data && size > 0) || (!room->text && room->text_size > 0) ||
        (!room->prefixes && room->prefix_count > 0))
        return fail(error, SFB_BAD_ARGUMENT, "argument", 0);
    if (size == 0)
        return fail(error, SFB_CBF_EMPTY, "info byte", 0);
    code = d.data[0] & CBF_INFO_SIZE_MASK;
    if (d.data[0] >> CBF_INFO_VERSION_SHIFT != CBF_VERSION)
        return fail(error, SFB_CBF_VERSION, "info byte", 0);
    if (code == CBF_INFO_SIZE_RESERVED)
        return fail(error, SFB_CBF_SIZE, "info byte", 0);
    in.offset = 1;
    status = read_byte(&in, "platform", &platform_size);
    if (status == SFB_OK)
        status = read_bytes(&in, "platform", platform_size, &platform);
    if (status == SFB_OK)
        status = read_count(&in, "image count", SFB_IMAGES_MAX, &count);
    if (status != SFB_OK)
        return fail(error, in.error.status, in.error.field, in.error.offset);
    d.offset = in.offset;
    d.left = (uint32_t)count;
    d.shift = 64 - (16u << code);
    d.platform = (const char *)platform;
    d.platform_size = platform_size;
    d.text = room->text;
    d.text_size = room->text_size;
    d.prefixes = room->prefixes;
    d.prefix_room = room->prefix_count;
    *out = d;
    return SFB_OK;
}

/* --- Paths ------------------------------------------------------------------------------------ */

/* A path during its composition. */
struct path {
    size_t start; /* in the text */
    size_t base;  /* of the text that prefixes are made of */
    bool have_base;
};

static enum sfb_status append(struct input *in, const struct path *path, const void *bytes,
                              size_t size)
{
    if (in->text_used - path->start + size > SFB_IMAGE_PATH_MAX)
        return refuse(in, SFB_CBF_TOO_WIDE, "path", in->offset);
    if (size > in->d->text_size - in->text_used)
        return refuse(in, SFB_BUFFER_FULL, "path", in->offset);
    if (size > 0)
        memmove(in->d->text + in->text_used, bytes, size);
    in->text_used += size;
    return SFB_OK;
}

static enum sfb_status append_string(struct input *in, struct path *path, size_t size)
{
    const uint8_t *bytes = NULL;
    size_t start = in->text_used;
    enum sfb_status status = read_bytes(in, "path", size, &bytes);

    if (status == SFB_OK)
        status = append(in, path, bytes, size);
    if (status != SFB_OK)
        return status;
    if (!path->have_base)
        path->base = start;
    path->have_base = true;
    for (size_t at = start; at < in->text_used; at++) {
        if (at == path->base || !image_map_is_separator(in->d->text[at]))
            continue;
        if (in->prefix_count == in->d->prefix_room)
            return refuse(in, SFB_BUFFER_FULL, "path", in->offset);
        in->d->prefixes[in->prefix_count++] =
            (struct sfb_image_map_prefix){ .at = (uint32_t)path->base,
                                           .size = (uint32_t)(at - path->base) };
    }
    return SFB_OK;
}

static enum sfb_status append_prefix(struct input *in, const struct path *path, uint64_t code,
                                     size_t offset)
{
    const struct sfb_image_map_prefix *prefix;

    if (code < IMAGE_MAP_FIXED_COUNT)
        return append(in, path, image_map_fixed[code].text, image_map_fixed[code].size);
    if (code < IMAGE_PATH_FIRST_CODE || code - IMAGE_PATH_FIRST_CODE >= in->prefix_count)
        return refuse(in, SFB_CBF_RESERVED_OPCODE, "path", offset);
    prefix = &in->d->prefixes[code - IMAGE_PATH_FIRST_CODE];
    return append(in, path, in->d->text + prefix->at, prefix->size);
}

static enum sfb_status append_expand(struct input *in, const struct path *path, unsigned byte,
                                     size_t offset)
{
    uint64_t code = byte & IMAGE_PATH_OPERAND;
    unsigned next = 0;

    if (byte >= IMAGE_PATH_EXPAND_LONG) {
        unsigned size = (unsigned)code + 1;

        for (code = 0; size > 0; size--) {
            if (read_byte(in, "path", &next) != SFB_OK)
                return in->error.status;
            if (code >> 32)
                return refuse(in, SFB_CBF_RESERVED_OPCODE, "path", offset);
            code = code << 8 | next;
        }
        code += IMAGE_PATH_CODES_SHORT;
    }
    return append_prefix(in, path, code, offset);
}

/* /NAME.framework/Versions/V/NAME, or without the versions */
static enum sfb_status append_framework(struct input *in, const struct path *path, size_t size)
{
    static const char framework[] = ".framework", versions[] = "/Versions/";
    enum { WITHOUT_VERSION = 1 };
    const uint8_t *version = NULL, *name = NULL;
    enum sfb_status status = read_bytes(in, "path", 1, &version);

    if (status == SFB_OK)
        status = read_bytes(in, "path", size, &name);
    if (status == SFB_OK)
        status = append(in, path, "/", 1);

    if (status == SFB_OK)
        status = append(in, path, name, size);
    if (status == SFB_OK)
        status = append(in, path, framework, sizeof framework - 1);
    if (status == SFB_OK && *version != WITHOUT_VERSION) {
        status = append(in, path, versions, sizeof versions - 1);
        if (status == SFB_OK)
            status = append(in, path, version, 1);
    }
    if (status == SFB_OK)
        status = append(in, path, "/", 1);
    return status == SFB_OK ? append(in, path, name, size) : status;
}

static enum sfb_status read_path(struct input *in, struct sfb_image *out)
{
    struct path path = { .start = in->text_used };
    bool any = false, ended = false;
    enum sfb_status status;
    unsigned byte = 0;

    while (!ended) {
        size_t offset = in->offset;

        status = read_byte(in, "path", &byte);
        if (status != SFB_OK)
            return status;
        ended =
            byte < IMAGE_PATH_EXPAND && (byte == IMAGE_PATH_END || byte >= IMAGE_PATH_FRAMEWORK);
        if (byte >= IMAGE_PATH_EXPAND)
            status = append_expand(in, &path, byte, offset);
        else if (byte >= IMAGE_PATH_FRAMEWORK)
            status = append_framework(in, &path, (byte & IMAGE_PATH_OPERAND) + 1);
        else if (byte != IMAGE_PATH_END)
            status = append_string(in, &path, byte);
        if (status != SFB_OK)
            return status;
        any |= byte != IMAGE_PATH_END;
    }
    out->path = any ? in->d->text + path.start : NULL;
    out->path_size = in->text_used - path.start;
    return SFB_OK;
}

/* --- Images ----------------------------------------------------------------------------------- */

static enum sfb_status read_addresses(struct input *in, struct sfb_image *out, uint64_t *base)
{
    const uint64_t mask = UINT64_MAX >> in->d->shift;
    uint64_t value = 0, size = 0;
    enum sfb_status status;
    unsigned header = 0;

    status = read_byte(in, "header", &header);
    if (status == SFB_OK)
        status = read_number(in, "base", (header >> IMAGE_BASE_SHIFT & IMAGE_BYTES) + 1, &value);
    if (status == SFB_OK)
        status = read_number(in, "end of text", (header & IMAGE_BYTES) + 1, &size);
    if (status != SFB_OK)
        return status;
    *base = header & IMAGE_RELATIVE ? in->d->base + value : value;
    out->base = *base & mask;
    out->end_of_text = (*base + size) & mask;
    return SFB_OK;
}

static enum sfb_status read_image(struct input *in, struct sfb_image *out, uint64_t *base)
{
    enum sfb_status status = read_addresses(in, out, base);

    if (status == SFB_OK)
        status = read_count(in, "build-id", SFB_IMAGE_BUILD_ID_MAX, &out->build_id_size);
    if (status == SFB_OK)
        status = read_bytes(in, "build-id", out->build_id_size, &out->build_id);
    if (status != SFB_OK)
        return status;
    if (out->build_id_size == 0)
        out->build_id = NULL;
    return read_path(in, out);
}

enum sfb_status sfb_image_map_decoder_next(struct sfb_image_map_decoder *decoder,
                                           struct sfb_image *out, struct sfb_error *error)
{
    struct sfb_image_map_decoder *d = decoder;
    struct input in = {
        .d = d, .offset = d->offset, .text_used = d->text_used, .prefix_count = d->prefix_count
    };
    struct sfb_image image;
    uint64_t base = 0;

    if (d->left == 0)
        return d->offset == d->size
                   ? SFB_END
                   : fail(error, SFB_CBF_TRAILING_DATA, "trailing data", d->offset);
    if (read_image(&in, &image, &base) != SFB_OK)
        return fail(error, in.error.status, in.error.field, in.error.offset);
    d->offset = in.offset;
    d->text_used = in.text_used;
    d->prefix_count = in.prefix_count;
    d->base = base;
    d->left--;
    *out = image;
    return SFB_OK;
}
