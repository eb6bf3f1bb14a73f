/* Maps of images: what Swift wrote, what is written here and read back, and what is no map. */
#include "sfb/image_map.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define VECTORS SFB_SOURCE_DIR "/tests/vectors/swift-6.2.3.json"

enum { SIZE = 1 << 20, PREFIXES = 1 << 16 };

static uint8_t bytes[SIZE];
static char text[2][SIZE];
static struct sfb_image_map_prefix prefixes[2][PREFIXES];

static struct sfb_image_map_decoder decoder_of(const uint8_t *data, size_t size, unsigned room)
{
    struct sfb_image_map_room lent = { text[room], SIZE, prefixes[room], PREFIXES };
    struct sfb_image_map_decoder decoder;

    cr_assert(eq(int, sfb_image_map_decoder_init(&decoder, data, size, &lent, NULL), SFB_OK));
    return decoder;
}

static struct sfb_image_map_encoder encoder_of(size_t size, unsigned word_bits,
                                               const char *platform)
{
    static struct sfb_image_map_prefix own[SFB_IMAGE_MAP_PREFIXES];
    struct sfb_image_map_encoder encoder;

    cr_assert(eq(int,
                 sfb_image_map_encoder_init(&encoder, bytes, size, word_bits, platform, own,
                                            SFB_IMAGE_MAP_PREFIXES),
                 SFB_OK));
    return encoder;
}

static bool same_image(const struct sfb_image *a, const struct sfb_image *b)
{
    return a->base == b->base && a->end_of_text == b->end_of_text &&
           a->build_id_size == b->build_id_size && a->path_size == b->path_size &&
           (a->path == NULL) == (b->path == NULL) &&
           (a->build_id_size == 0 || memcmp(a->build_id, b->build_id, a->build_id_size) == 0) &&
           (a->path_size == 0 || memcmp(a->path, b->path, a->path_size) == 0);
}

/* --- Swift's ---------------------------------------------------------------------------------- */

/* Without padding, as Swift writes it. */
static size_t decode_base64(uint8_t *out, const char *from)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0, held = 0;
    size_t size = 0;

    for (; *from; from++) {
        held = held << 6 | (unsigned)(strchr(letters, *from) - letters);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[size++] = (uint8_t)(held >> bits);
            held &= (1u << bits) - 1;
        }
    }
    return size;
}

/* "0xBASE-0xEND BUILD-ID NAME PATH", as Swift prints an image. */
static void print_image(char *out, size_t size, const struct sfb_image *image)
{
    const char *name = image->path;
    char id[2 * 64 + 1] = "";

    for (size_t i = 0; i < image->build_id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", image->build_id[i]);
    for (size_t i = 0; i < image->path_size; i++)
        if (image->path[i] == '/')
            name = image->path + i + 1;
    snprintf(out, size, "0x%016" PRIx64 "-0x%016" PRIx64 " %s %.*s %.*s", image->base,
             image->end_of_text, id, (int)(image->path + image->path_size - name), name,
             (int)image->path_size, image->path);
}

/* @return bytes of the same images, written here, read back and found equal */
static size_t write_again(const uint8_t *data, size_t size, const char *name)
{
    struct sfb_image_map_decoder theirs = decoder_of(data, size, 0), ours;
    struct sfb_image_map_encoder encoder = encoder_of(SIZE, 64, "Linux");
    struct sfb_image a, b;
    size_t written;

    while (sfb_image_map_decoder_next(&theirs, &a, NULL) == SFB_OK)
        cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &a), SFB_OK));
    written = sfb_image_map_encoder_end(&encoder);
    theirs = decoder_of(data, size, 0);
    ours = decoder_of(bytes, written, 1);
    while (sfb_image_map_decoder_next(&theirs, &a, NULL) == SFB_OK) {
        cr_assert(eq(int, sfb_image_map_decoder_next(&ours, &b, NULL), SFB_OK));
        cr_expect(same_image(&a, &b), "%s: %.*s", name, (int)a.path_size, a.path);
    }
    cr_expect(eq(int, sfb_image_map_decoder_next(&ours, &b, NULL), SFB_END));
    return written;
}

Test(image_map, reads_and_writes_what_swift_wrote)
{
    json_error_t error;
    json_t *file = json_load_file(VECTORS, 0, &error), *vector;
    size_t index, seen = 0;

    cr_assert(file != NULL, "%s", error.text);
    json_array_foreach(json_object_get(file, "vectors"), index, vector)
    {
        static uint8_t data[SIZE];
        const char *name = json_string_value(json_object_get(vector, "name"));
        const json_t *images = json_object_get(vector, "images");
        size_t size = decode_base64(
            data, json_string_value(json_object_get(json_object_get(vector, "json"), "imageMap")));
        struct sfb_image_map_decoder decoder = decoder_of(data, size, 0);
        struct sfb_image image;

        cr_expect(eq(int, strncmp(decoder.platform, "Linux (", 7), 0));
        for (size_t i = 0; i < json_array_size(images); i++, seen++) {
            char line[4096];

            cr_assert(eq(int, sfb_image_map_decoder_next(&decoder, &image, NULL), SFB_OK));
            print_image(line, sizeof line, &image);
            cr_expect(
                eq(str, line, (char *)(uintptr_t)json_string_value(json_array_get(images, i))),
                "%s", name);
        }
        cr_expect(eq(int, sfb_image_map_decoder_next(&decoder, &image, NULL), SFB_END));
        cr_expect(le(sz, write_again(data, size, name), size), "%s: smaller than Swift's", name);
    }
    cr_expect(lt(sz, 80, seen));
    json_decref(file);
}

/* --- Ours ------------------------------------------------------------------------------------- */

static uint64_t state;

static unsigned random_below(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

/* Of few words, so that many begin alike, and some of a length that needs several strings. */
static size_t make_path(char *out)
{
    static const char *const roots[] = {
        "/usr/lib", "/lib", "/opt/lib", "/nix/store", "C:\\Windows", "/System/iOSSupport", ""
    };
    size_t size = (size_t)sprintf(out, "%s", roots[random_below(7)]);

    for (unsigned parts = random_below(6); parts > 0; parts--) {
        unsigned letters = random_below(8) == 0 ? 100 : 1 + random_below(3);

        out[size++] = random_below(9) == 0 ? '\\' : '/';
        for (; letters > 0; letters--)
            out[size++] = (char)('a' + random_below(parts % 2 ? 2 : 26));
    }
    return size;
}

enum { IMAGES = 700 };
static struct sfb_image images[IMAGES];

static void make_images(unsigned word_bits)
{
    static char paths[IMAGES][1024];
    static uint8_t id[64];
    uint64_t at = word_bits == 64 ? 0x550000000000 : 0x7ff00000;

    for (unsigned i = 0; i < sizeof id; i++)
        id[i] = (uint8_t)random_below(256);
    for (unsigned i = 0; i < IMAGES; i++) {
        size_t size = make_path(paths[i]);

        at += 1 + random_below(0x100000);
        images[i] = (struct sfb_image){ .base = at,
                                        .end_of_text = at + 1 + random_below(0x10000),
                                        .build_id_size = random_below(4) ? 20 : random_below(64),
                                        .path = size > 0 ? paths[i] : NULL,
                                        .path_size = size };
        images[i].build_id = images[i].build_id_size > 0 ? id : NULL;
        if (random_below(20) == 0)
            images[i].base -= 0x1000; /* not quite ascending */
    }
}

static void expect_images(size_t size, unsigned count)
{
    struct sfb_image_map_decoder decoder = decoder_of(bytes, size, 0);
    struct sfb_image image;

    for (unsigned i = 0; i < count; i++) {
        cr_assert(eq(int, sfb_image_map_decoder_next(&decoder, &image, NULL), SFB_OK));
        cr_assert(same_image(&images[i], &image), "image %u: %.*s", i, (int)image.path_size,
                  image.path);
    }
    cr_expect(eq(int, sfb_image_map_decoder_next(&decoder, &image, NULL), SFB_END));
}

Test(image_map, reads_back_what_it_writes)
{
    static const unsigned words[] = { 64, 32 };

    for (state = 1; state < 20; state++) {
        for (unsigned w = 0; w < 2; w++) {
            struct sfb_image_map_encoder encoder = encoder_of(SIZE, words[w], "");

            make_images(words[w]);
            for (unsigned i = 0; i < IMAGES; i++)
                cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &images[i]), SFB_OK));
            cr_expect(eq(u32, encoder.prefix_count, SFB_IMAGE_MAP_PREFIXES), "there are more");
            expect_images(sfb_image_map_encoder_end(&encoder), IMAGES);
        }
    }
}

/* What does not fit leaves what is there as it was. */
Test(image_map, ends_where_the_room_ends)
{
    make_images(64);
    for (size_t size = 16; size < 3000; size += 7) {
        struct sfb_image_map_encoder encoder = encoder_of(size, 64, "Linux");
        unsigned count = 0;
        size_t written;

        while (count < IMAGES && sfb_image_map_encoder_put(&encoder, &images[count]) == SFB_OK)
            count++;
        written = sfb_image_map_encoder_end(&encoder);
        cr_assert(le(sz, written, size));
        expect_images(written, count);
    }
}

Test(image_map, writes_the_smallest_addresses)
{
    struct sfb_image_map_encoder encoder = encoder_of(64, 32, "");
    const struct sfb_image high = { .base = 0xffff8000, .end_of_text = 0xffff9000 },
                           low = { .base = 0x1000, .end_of_text = 0x1001 },
                           empty = { .base = 0x1000, .end_of_text = 0x1000 },
                           wide = { .base = 0x1000, .end_of_text = 0x100000000 };
    struct sfb_image_map_decoder decoder;
    struct sfb_image image;
    size_t size;

    cr_expect(eq(int, sfb_image_map_encoder_put(&encoder, &empty), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_image_map_encoder_put(&encoder, &wide), SFB_BAD_ARGUMENT));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &low), SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &high), SFB_OK));
    size = sfb_image_map_encoder_end(&encoder);
    /* info, platform, count; header, 2 + 1, no build-id, no path; header, 2 + 2, and the same */
    cr_expect(eq(sz, size, 5 + 6 + 7));
    decoder = decoder_of(bytes, size, 0);
    cr_assert(eq(int, sfb_image_map_decoder_next(&decoder, &image, NULL), SFB_OK));
    cr_expect(same_image(&low, &image));
    cr_assert(eq(int, sfb_image_map_decoder_next(&decoder, &image, NULL), SFB_OK));
    cr_expect(same_image(&high, &image));
}

/* --- No maps ---------------------------------------------------------------------------------- */

/* Reads all of it. @return how it ends; *offset: of the fault */
static enum sfb_status read_all(const uint8_t *data, size_t size, size_t *offset)
{
    struct sfb_image_map_room room = { text[1], 60000, prefixes[1], 4000 };
    struct sfb_image_map_decoder decoder;
    struct sfb_error error = { .status = SFB_OK };
    enum sfb_status status = sfb_image_map_decoder_init(&decoder, data, size, &room, &error);
    struct sfb_image image;

    while (status == SFB_OK)
        status = sfb_image_map_decoder_next(&decoder, &image, &error);
    *offset = error.offset;
    return status;
}

Test(image_map, refuses_what_is_cut_off)
{
    struct sfb_image_map_encoder encoder = encoder_of(SIZE, 64, "Linux");
    size_t size, offset;

    make_images(64);
    for (unsigned i = 0; i < 40; i++)
        cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &images[i]), SFB_OK));
    size = sfb_image_map_encoder_end(&encoder);
    cr_expect(eq(int, read_all(bytes, size, &offset), SFB_END));
    cr_expect(eq(int, read_all(bytes, 0, &offset), SFB_CBF_EMPTY));
    for (size_t cut = 1; cut < size; cut++) {
        cr_expect(eq(int, read_all(bytes, cut, &offset), SFB_CBF_TRUNCATED_OPERAND));
        cr_expect(eq(sz, offset, cut));
    }
    bytes[size] = 0;
    cr_expect(eq(int, read_all(bytes, size + 1, &offset), SFB_CBF_TRAILING_DATA));
    cr_expect(eq(sz, offset, size));
}

static enum sfb_status read_path(const char *path, size_t size, size_t *offset)
{
    static const char before[] = { 2, 0, 1, 0, 1, 1, 0 };
    uint8_t data[300];

    memcpy(data, before, sizeof before);
    memcpy(data + sizeof before, path, size);
    return read_all(data, sizeof before + size, offset);
}

Test(image_map, refuses_what_no_path_is)
{
    size_t offset;

    cr_expect(eq(int, read_path("\0", 1, &offset), SFB_END));
    cr_expect(eq(int, read_path("\x80\0", 2, &offset), SFB_END));
    cr_expect(eq(int,
                 read_path("\x41\x01"
                           "AB",
                           4, &offset),
                 SFB_END),
              "a framework ends it");
    cr_expect(eq(int, read_path("\x8c\0", 2, &offset), SFB_CBF_RESERVED_OPCODE), "12");
    cr_expect(eq(sz, offset, 7));
    cr_expect(eq(int, read_path("\xa0\0", 2, &offset), SFB_CBF_RESERVED_OPCODE), "none yet");
    cr_expect(eq(int, read_path("\x04/a/b\xa0\0", 7, &offset), SFB_END), "/a/b/a");
    cr_expect(eq(int, read_path("\x04/a/b\xa1\0", 7, &offset), SFB_CBF_RESERVED_OPCODE));
    cr_expect(eq(int, read_path("\xc8\1\1\1\1\1\1\1\1\1\0", 11, &offset), SFB_CBF_RESERVED_OPCODE));
}

/* One path of doubled prefixes after the other would fill any memory. */
Test(image_map, has_a_longest_path)
{
    uint8_t data[4096] = { 2, 0, 1, 0, 1, 1, 0, 4, '/', 'a', 'b', '/' };
    size_t size = 12, offset;

    while (size + 1 < sizeof data)
        data[size++] = 0xa0;
    cr_expect(eq(int, read_all(data, size, &offset), SFB_CBF_TOO_WIDE));
}

Test(image_map, survives_any_bytes)
{
    static uint8_t data[2000];
    struct sfb_image_map_encoder encoder = encoder_of(sizeof data, 64, "Linux");
    unsigned read = 0;
    size_t size, offset;

    make_images(64);
    for (unsigned i = 0; i < IMAGES && sfb_image_map_encoder_put(&encoder, &images[i]) == SFB_OK;)
        i++;
    size = sfb_image_map_encoder_end(&encoder);
    for (unsigned trial = 0; trial < 20000; trial++) {
        memcpy(data, bytes, size);
        for (unsigned flips = 1 + random_below(4); flips > 0; flips--)
            data[random_below((unsigned)size)] = (uint8_t)random_below(256);
        read += read_all(data, size, &offset) == SFB_END;
        cr_assert(le(sz, offset, size));
    }
    cr_expect(lt(u32, 0, read), "build-ids and paths may be any");
}
