/*
 * The notes of libwebsockets' allocators and sframe_backtrace_alloc_line(): the allocating stack of
 * a block, and the requested bytes. Bits, the high ones first; then the length of the note:
 *
 *     depth 5 | depth addresses | width 6, size | 0 to 7 bits of 0 | bytes of all this 16
 *     address: 0 | width 6, value
 *              1 | back 3: from the address so many and one before | minus 1 | width 6, distance
 *
 * That is the documented format. The library itself writes a bit more behind each field:
 * docs/QUIRKS.md.
 */
#ifndef CONTRIB_LWS_LWS_NOTE_H
#define CONTRIB_LWS_LWS_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lws_dialect {
    LWS_ANY,     /* the one that fits */
    LWS_LIBRARY, /* as libwebsockets writes it */
    LWS_README   /* as its documentation says */
};

enum { LWS_DEPTH_MAX = 31 };

struct lws_note {
    enum lws_dialect dialect;
    unsigned depth;
    uint64_t frames[LWS_DEPTH_MAX]; /* return addresses, the innermost first */
    uint64_t size;                  /* requested bytes */
    bool wide;                      /* needlessly long: no encoder writes it so */
};

/* @return false: neither `library` nor `readme` */
bool lws_dialect_parse(const char *name, enum lws_dialect *out);

/*
 * Decodes a note, and checks each bit: all widths fit, addresses refer to earlier ones, and padding
 * is 0.
 *
 * @param out  written on success
 * @return NULL, or the fault
 */
const char *lws_note_read(struct lws_note *out, const uint8_t *bytes, size_t size,
                          enum lws_dialect dialect);

#endif
