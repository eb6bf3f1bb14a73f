/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * Compact ImageMap Format, version 0: the modules of a process in a few bytes each, so that a backtrace can be
 * symbolised after the process is gone. A streaming encoder and a pull decoder.
 *
 * Neither allocates. What they remember of paths is in memory that the caller lends.
 *
 * Sources: the format's description and reader in Swift's runtime library, docs/FORMATS.md.
 */
#ifndef SFB_IMAGE_MAP_H
#define SFB_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* A program, a library, or the vDSO. */
struct sfb_image {
    uint64_t base;           /* where its first byte was mapped */
    uint64_t end_of_text;    /* behind its last byte of code */
    const uint8_t *build_id; /* NULL if build_id_size is 0 */
    size_t build_id_size;    /* bytes; 0: it has none */
    const char *path;        /* not terminated; NULL: it has none */
    size_t path_size;        /* bytes */
};

/* The longest build-id and path that are read or written. Swift's reader has the same limit of the first. */
#define SFB_IMAGE_BUILD_ID_MAX 1024
#define SFB_IMAGE_PATH_MAX     4096

/* Images of one map at most: Swift's reader has the same limit. */
#define SFB_IMAGES_MAX 1048576

/* Private: a beginning that paths have in common. */
struct sfb_image_map_prefix {
    uint32_t at, size;
};

/* So many are of use to an encoder: with more, Swift's reader could be given codes that it mistakes. */
#define SFB_IMAGE_MAP_PREFIXES 288

/* Private to the encoder: declare it, and call the functions below. */
struct sfb_image_map_encoder {
    uint8_t *start, *pos, *limit;
    uint8_t *count; /* where the number of images goes */
    uint64_t base;  /* of the image before */
    uint32_t images;
    uint32_t shift;        /* 64 less the bits of a machine word */
    uint32_t codes;        /* that the reader knows: prefixes it has met */
    uint32_t prefix_count; /* of them, those that are remembered here */
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
 * @param platform      what it ran on, as in "Linux (Debian GNU/Linux 12 (bookworm))": 255 bytes of UTF-8 at most
 * @param prefixes      written, and borrowed as long; NULL: paths are written as they are
 * @param prefix_count  elements at prefixes; more than SFB_IMAGE_MAP_PREFIXES are not used
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
 * Appends an image. They should come by increasing base: then they take the least room.
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  a base or an end of text that does not fit the word, an end of text that is not behind
 *                           the base, or a build-id or path that is too long
 *         SFB_BUFFER_FULL   there is no room for it: nothing has changed
 *
 * Threads: safe, each with its own encoder.   Signals: safe.
 * Cost: 0.1 us, and for each remembered prefix 2 ns.
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

/* Memory that a decoder works in. */
struct sfb_image_map_room {
    char *text; /* the paths, one behind the other: they stay there */
    size_t text_size;
    struct sfb_image_map_prefix *prefixes; /* one for each '/' within a path at most */
    size_t prefix_count;
};

/**
 * Starts to decode a map.
 *
 * @param out    written on SFB_OK only
 * @param data   borrowed as long as the decoder and the images are used; may be NULL if size is 0
 * @param room   copied; what it points to is borrowed as long
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
 * @param out    written on SFB_OK; its pointers lead to data and to the room lent
 * @param error  as above: field is "header", "base", "end of text", "build-id", "path" or "trailing data"
 *
 * @return SFB_OK
 *         SFB_END                    there are no more
 *         SFB_CBF_TRUNCATED_OPERAND  the data ends within the image
 *         SFB_CBF_TOO_WIDE           an address wider than the word, or a build-id or path that is too long
 *         SFB_CBF_RESERVED_OPCODE    a path begins as no other one did
 *         SFB_CBF_TRAILING_DATA      bytes follow the last image
 *         SFB_BUFFER_FULL            the room lent is used up
 *
 * After an error another call gives the same answer.
 *
 * Threads: safe, each with its own decoder.   Signals: safe.   Cost: by the bytes of the image and its path.
 */
enum sfb_status sfb_image_map_decoder_next(struct sfb_image_map_decoder *decoder,
                                           struct sfb_image *out, struct sfb_error *error);

#endif
