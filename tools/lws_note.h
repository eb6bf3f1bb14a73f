/*
 * What libwebsockets' allocators, and sframe_backtrace_alloc_line(), keep of a block: who asked for it, and the bytes
 * asked for. Bits, the high ones first; then the length of all of it:
 *
 *     depth 5 | depth addresses | width 6, size | 0 to 7 bits of 0 | bytes of all this 16
 *     address: 0 | width 6, value
 *              1 | back 3: from the address so many and one before | minus 1 | width 6, distance
 *
 * That is what its documentation says. The library itself writes a bit more behind each field. docs/QUIRKS.md
 */
#ifndef LWS_NOTE_H
#define LWS_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lws_dialect {
    LWS_ANY,     /* the one that fits */
    LWS_LIBRARY, /* as libwebsockets writes it */
    LWS_README   /* as its documentation has it */
};

enum { LWS_DEPTH_MAX = 31 };

struct lws_note {
    enum lws_dialect dialect;
    unsigned depth;
    uint64_t frames[LWS_DEPTH_MAX]; /* return addresses, the innermost first */
    uint64_t size;                  /* bytes that were asked for */
    bool wide;                      /* it could be shorter: no encoder writes it so */
};

/* @return false: it is neither `library` nor `readme` */
bool lws_dialect_parse(const char *name, enum lws_dialect *out);

/*
 * Reads a note. No bit of it is believed: all widths have to fit, no address may refer to one that is not there, and
 * the bits that nothing has have to be 0.
 *
 * @param out  written if there is no fault
 * @return NULL, or what is wrong
 */
const char *lws_note_read(struct lws_note *out, const uint8_t *bytes, size_t size,
                          enum lws_dialect dialect);

#endif
