/*
 * The bytes of Compact ImageMap Format, version 0.
 *
 *     map   := info, platform (a length byte and UTF-8), count, image...
 *     image := header, base, end of text - base, count and bytes of the build-id, path
 *     count := 7 bits a byte, the most significant first, with 0x80 in all but the last
 *     path  := instructions up to 0x00; only 0x00: the image has no path
 *
 * The info byte is CBF's.
 */
#ifndef SFB_CBF_IMAGE_MAP_FORMAT_H
#define SFB_CBF_IMAGE_MAP_FORMAT_H

#include <stddef.h>

/* The header, raaaeee: the bytes of base and of end of text, each - 1. */
#define IMAGE_RELATIVE     0x80 /* to the base of the image before, of the first to 0 */
#define IMAGE_BASE_SHIFT   3
#define IMAGE_BYTES        0x07
#define IMAGE_COUNT_MORE   0x80
#define IMAGE_COUNT_BITS   7
#define IMAGE_PLATFORM_MAX 255

/* Instructions of a path. */
#define IMAGE_PATH_END        0x00
#define IMAGE_PATH_STRING_MAX 0x3f /* 00ssssss: s bytes follow */
#define IMAGE_PATH_FRAMEWORK                                                                       \
    0x40 /* 01nnnnnn: the version and n + 1 bytes of the name follow, and end it */
#define IMAGE_PATH_EXPAND      0x80 /* 10cccccc: the prefix of code c */
#define IMAGE_PATH_EXPAND_LONG 0xc0 /* 11nnnnnn: n + 1 bytes of code less 64 follow */
#define IMAGE_PATH_OPERAND     0x3f
#define IMAGE_PATH_CODES_SHORT 64

/*
 * The text that begins with a path's first string makes new prefixes: the part before each later '/' or '\'.
 * They get the codes from here on.
 */
#define IMAGE_PATH_FIRST_CODE 32

/* The codes below FIRST_CODE; all others there are reserved. */
struct image_map_fixed {
    const char *text;
    size_t size;
};

static const struct image_map_fixed image_map_fixed[] = {
    { "/lib", 4 },
    { "/usr/lib", 8 },
    { "/usr/local/lib", 14 },
    { "/opt/lib", 8 },
    { "/System/Library/Frameworks", 26 },
    { "/System/Library/PrivateFrameworks", 33 },
    { "/System/iOSSupport", 18 },
    { "/Library/Frameworks", 19 },
    { "/System/Applications", 20 },
    { "/Applications", 13 },
    { "C:\\Windows\\System32", 19 },
    { "C:\\Program Files", 16 },
};
enum { IMAGE_MAP_FIXED_COUNT = sizeof image_map_fixed / sizeof *image_map_fixed };

static inline int image_map_is_separator(char c)
{
    return c == '/' || c == '\\';
}

#endif
