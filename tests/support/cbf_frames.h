/*
 * Lists of frames to CBF and back, and bytes written in hexadecimal: what the tests of the encoder
 * and of the decoder share.
 */
#ifndef SUPPORT_CBF_FRAMES_H
#define SUPPORT_CBF_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"

struct cbf_frame {
    enum sfb_frame_kind kind;
    uint64_t value;
};

/* What reading a whole backtrace came to. */
struct cbf_reading {
    enum sfb_status status; /* SFB_END, or the fault that error describes */
    struct sfb_error error;
    size_t count; /* frames stored */
    bool truncated;
    size_t consumed;
};

static inline bool cbf_frame_equal(struct cbf_frame a, struct cbf_frame b)
{
    return a.kind == b.kind && a.value == b.value;
}

/* Writes all frames and a terminator; gives the size, 0 if something did not fit. */
static inline size_t cbf_encode(uint8_t *buffer, size_t size, unsigned word_bits,
                                const struct cbf_frame *frames, size_t count, bool truncated)
{
    struct sfb_cbf_encoder e;

    if (sfb_cbf_encoder_init(&e, buffer, size, word_bits) != SFB_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (sfb_cbf_encoder_put(&e, frames[i].kind, frames[i].value) != SFB_OK)
            return 0;
    return sfb_cbf_encoder_end(&e, truncated);
}

/* Reads all frames, repeats one by one; those beyond max are read and not stored. */
static inline struct cbf_reading cbf_decode(const void *data, size_t size, uint32_t flags,
                                            struct cbf_frame *frames, size_t max)
{
    struct sfb_cbf_decoder_options options = { .size = sizeof options, .flags = flags };
    struct cbf_reading r = { .count = 0 };
    struct sfb_cbf_decoder d;
    struct sfb_cbf_item item;

    r.status = sfb_cbf_decoder_init(&d, data, size, &options, &r.error);
    if (r.status != SFB_OK)
        return r;
    while ((r.status = sfb_cbf_decoder_next(&d, &item, &r.error)) == SFB_OK)
        for (uint64_t i = 0; i < item.count; i++)
            if (r.count < max)
                frames[r.count++] = (struct cbf_frame){ item.kind, item.value };
    r.truncated = sfb_cbf_decoder_truncated(&d);
    r.consumed = sfb_cbf_decoder_consumed(&d);
    return r;
}

/* Reads pairs of hexadecimal digits, blanks between them allowed; gives the bytes stored. */
static inline size_t cbf_bytes(uint8_t *out, size_t max, const char *hex)
{
    size_t n = 0;

    for (const char *at = hex; *at != '\0' && n < max;) {
        char pair[3] = { at[0], at[1], '\0' };

        if (*at == ' ') {
            at++;
            continue;
        }
        out[n++] = (uint8_t)strtoul(pair, NULL, 16);
        at += 2;
    }
    return n;
}

/* Writes bytes as hexadecimal digits, for messages that can be compared with the vectors. */
static inline void cbf_hex(char *out, size_t max, const uint8_t *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;

    for (size_t i = 0; i < size && n + 2 < max; i++) {
        out[n++] = digits[data[i] >> 4];
        out[n++] = digits[data[i] & 15];
    }
    out[n] = '\0';
}

#endif
