/**
 * Compact ImageMap Format, version 0: the modules of a process in a few bytes each, so that a backtrace can be
 * symbolized after the process is gone. A streaming encoder and a pull decoder. Stable. The functions are in the static
 * library only: the shared one has sframe_backtrace_image_map(), which writes a map.
 *
 * Neither allocates. Paths are remembered in memory of the caller.
 *
 * Sources: the format's description and reader in Swift's runtime library, docs/FORMATS.md.
 */
#ifndef SFB_IMAGE_MAP_H
#define SFB_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

SFB_BEGIN_DECLS

/* A program, a library, or the vDSO. */
struct sfb_image {
    uint64_t base;           /* where its first byte was mapped */
    uint64_t end_of_text;    /* behind its last byte of code */
    const uint8_t *build_id; /* NULL if build_id_size is 0 */
    size_t build_id_size;    /* bytes; 0: no build-id */
    const char *path;        /* not terminated; NULL: no path */
    size_t path_size;        /* bytes */
};

/* Longest build-id and path, in bytes. Swift's reader has the same limit for build-ids. */
#define SFB_IMAGE_BUILD_ID_MAX 1024
#define SFB_IMAGE_PATH_MAX     4096

/* Most images of a map. Swift's reader has the same limit. */
#define SFB_IMAGES_MAX 1048576

/* Private: a prefix that paths share. */
struct sfb_image_map_prefix {
    uint32_t at, size;
};

/* Most prefixes that an encoder uses. Swift's reader could mistake the codes of more. */
#define SFB_IMAGE_MAP_PREFIXES 288

/* Private to the encoder: declare it, and call the functions below. */
struct sfb_image_map_encoder {
    uint8_t *start, *pos, *limit;
    uint8_t *count; /* where the number of images goes */
    uint64_t base;  /* of the image before */
    uint32_t images;
    uint32_t shift;        /* 64 - bits of a machine word */
    uint32_t codes;        /* prefixes that the reader has met so far, each with a code */
    uint32_t prefix_count; /* prefixes remembered here: a part of codes */
    uint32_t prefix_room;
    struct sfb_image_map_prefix *prefixes; /* in the bytes written */
};

/**
 * Starts a map.
 *
 * @param out           written on SFB_OK only
 * @param buffer        written, and borrowed until sfb_image_map_encoder_end()
 * @param size          bytes at buffer
 * @param word_bits     16, 32 or 64
 * @param platform      system of the process, as in "Linux (Debian GNU/Linux 12 (bookworm))": UTF-8, at most 255 bytes
 * @param prefixes      written, and borrowed for as long; NULL: paths are not compressed
 * @param prefix_count  elements at prefixes; at most SFB_IMAGE_MAP_PREFIXES are used
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT      a NULL pointer, another word size, or a platform that is too long
 *         SFB_BUFFER_TOO_SMALL  no room for a map without images
 *
 * Threads: safe, each with its own encoder.   Signals: safe.   Cost: constant.
 */
enum sfb_status sfb_image_map_encoder_init(struct sfb_image_map_encoder *out, void *buffer,
                                           size_t size, unsigned word_bits, const char *platform,
                                           struct sfb_image_map_prefix *prefixes,
                                           size_t prefix_count);

/**
 * Appends an image. Maps are smallest if images come by increasing base.
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  a base or an end of text that does not fit the word, an end of text that is not behind
 *                           the base, or a build-id or path that is too long
 *         SFB_BUFFER_FULL   no room for the image: nothing has changed
 *
 * Threads: safe, each with its own encoder.   Signals: safe.
 * Cost: 0.1 us, and 2 ns for each remembered prefix.
 */
enum sfb_status sfb_image_map_encoder_put(struct sfb_image_map_encoder *encoder,
                                          const struct sfb_image *image);

/**
 * Ends the map.
 *
 * @return its size in bytes
 */
size_t sfb_image_map_encoder_end(struct sfb_image_map_encoder *encoder);

/* Private to the decoder: declare it, and call the functions below. */
struct sfb_image_map_decoder {
    const uint8_t *data;
    size_t size, offset;
    uint64_t base;
    uint32_t left; /* images */
    uint32_t shift;
    const char *platform; /* not terminated */
    size_t platform_size;
    char *text;
    size_t text_size, text_used;
    struct sfb_image_map_prefix *prefixes; /* in the text */
    size_t prefix_room, prefix_count;
};

/* Working memory of a decoder. */
struct sfb_image_map_room {
    char *text; /* decoded paths, one behind the other; images point into it */
    size_t text_size;
    struct sfb_image_map_prefix *prefixes; /* at most one for each '/' within a path */
    size_t prefix_count;
};

/**
 * Starts to decode a map.
 *
 * @param out    written on SFB_OK only
 * @param data   borrowed until the decoder and its images are last used; may be NULL if size is 0
 * @param room   copied; the memory that it points to is borrowed for as long
 * @param error  status, "field" and byte offset; written on failure only; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_CBF_EMPTY, SFB_CBF_VERSION, SFB_CBF_SIZE  the info byte is missing or wrong
 *         SFB_CBF_TRUNCATED_OPERAND                     the platform or the count is cut off
 *         SFB_CBF_TOO_WIDE                              more than SFB_IMAGES_MAX images
 *         SFB_BAD_ARGUMENT                              a NULL pointer
 *
 * Threads: safe, each with its own decoder.   Signals: safe.   Cost: constant.
 */
enum sfb_status sfb_image_map_decoder_init(struct sfb_image_map_decoder *out, const void *data,
                                           size_t size, const struct sfb_image_map_room *room,
                                           struct sfb_error *error);

/**
 * Decodes the next image.
 *
 * @param out    written on SFB_OK; its pointers lead into data and into room->text
 * @param error  as above: field is "header", "base", "end of text", "build-id", "path" or "trailing data"
 *
 * @return SFB_OK
 *         SFB_END                    no more images
 *         SFB_CBF_TRUNCATED_OPERAND  the data ends within the image
 *         SFB_CBF_TOO_WIDE           an address wider than the word, or a build-id or path that is too long
 *         SFB_CBF_RESERVED_OPCODE    a path names a prefix that no path before it had
 *         SFB_CBF_TRAILING_DATA      bytes follow the last image
 *         SFB_BUFFER_FULL            the memory in room is used up
 *
 * After an error another call gives the same answer.
 *
 * Threads: safe, each with its own decoder.   Signals: safe.   Cost: by the bytes of the image and its path.
 */
enum sfb_status sfb_image_map_decoder_next(struct sfb_image_map_decoder *decoder,
                                           struct sfb_image *out, struct sfb_error *error);

SFB_END_DECLS

#endif
