/**
 * Compact Backtrace Format (CBF), version 0: a streaming encoder and a pull decoder. Stable.
 *
 * Neither allocates. Each keeps its whole state in a struct that the caller owns. Addresses are 64
 * bits wide here, whatever the word size of the data.
 */
#ifndef SFB_CBF_H
#define SFB_CBF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "status.h"

SFB_BEGIN_DECLS

/* Repeats of one rep instruction at most, here and in Swift's reader. */
#define SFB_CBF_REP_MAX 0x100000

/* Bytes of the smallest backtrace: the info byte and a terminator. */
#define SFB_CBF_SIZE_MIN 2

/* Bytes of one more frame at most, with 64-bit words. */
#define SFB_CBF_FRAME_SIZE_MAX 9

/* Private to the encoder: declare it, and call the functions below. */
struct sfb_cbf_encoder {
    uint8_t *pos;     /* where the next instruction goes */
    uint8_t *limit;   /* end of the buffer less the byte that is kept for the terminator */
    uint8_t *start;   /* of the buffer */
    uint64_t last;    /* address of the frame before; 0 for the first frame */
    uint32_t repeats; /* count of the rep instruction that ends at pos; 0: another instruction */
    uint8_t shift;    /* 64 - bits of a machine word */
    uint8_t kind;     /* of the frame before; a value of its own for the first frame */
    uint8_t first;    /* not 0 until an address was written: the first must be absolute */
};

/**
 * Starts a backtrace: writes the info byte, and reserves a byte for the terminator.
 *
 * @param out        the encoder; written on SFB_OK only
 * @param buffer     written, and borrowed until sfb_cbf_encoder_end(). Up to nine bytes behind the
 *                   encoded ones are scratch space; no byte behind size is touched.
 * @param size       bytes at buffer
 * @param word_bits  16, 32 or 64
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT      a NULL pointer, or another word size
 *         SFB_BUFFER_TOO_SMALL  size is below SFB_CBF_SIZE_MIN
 *
 * Threads: safe, each with its own encoder.   Signals: safe.   Cost: constant.
 * Source: CBF specification, the information byte.
 */
SFB_API enum sfb_status sfb_cbf_encoder_init(struct sfb_cbf_encoder *out, void *buffer, size_t size,
                                             unsigned word_bits);

/**
 * Appends one frame.
 *
 * The encoding is the smallest that the format allows. An address is absolute or relative,
 * whichever is shorter: relative on a tie, absolute for the first address. Equal frames in a row
 * are one `rep`, up to SFB_CBF_REP_MAX or what a word holds. Two equal omits stay two: the
 * specification does not say whether `rep` repeats an omit.
 *
 * @param encoder  started
 * @param kind     of the frame
 * @param value    its address; for SFB_FRAME_OMIT the number of frames left out, at least 1
 *
 * @return SFB_OK
 *         SFB_BUFFER_FULL   the frame does not fit; a shorter one might
 *         SFB_BAD_ARGUMENT  value is wider than the word, an omit of 0, or no such kind
 *         On all but SFB_OK nothing was changed.
 *
 * Threads: safe, each with its own encoder.   Signals: safe.   Cost: constant, 3 to 5 ns.
 * Source: CBF specification, the instructions.
 */
SFB_API enum sfb_status sfb_cbf_encoder_put(struct sfb_cbf_encoder *encoder,
                                            enum sfb_frame_kind kind, uint64_t value);

/**
 * Makes the buffer larger: bytes behind it may be written from now on.
 *
 * @param encoder  started
 * @param size     bytes from the start of the buffer; a smaller size than before changes nothing
 *
 * Threads: safe, each with its own encoder.   Signals: safe.   Cost: constant.
 */
SFB_API void sfb_cbf_encoder_extend(struct sfb_cbf_encoder *encoder, size_t size);

/**
 * Writes the terminator, for which there is always room.
 *
 * The encoder stays as it was: more frames may follow, over the terminator, and another end.
 *
 * @param encoder    started
 * @param truncated  true: `trunc`, there were more frames; false: `end`
 *
 * @return bytes of the backtrace, the terminator included
 *
 * Threads: safe, each with its own encoder.   Signals: safe.   Cost: constant.
 * Source: CBF specification, the instructions.
 */
SFB_API size_t sfb_cbf_encoder_end(struct sfb_cbf_encoder *encoder, bool truncated);

/*
 * How data is read. Without flags: strictly, as one backtrace. The first address must be absolute,
 * and nothing may follow the terminator. The terminator may be missing: the specification allows
 * that where the size is known.
 */
enum sfb_cbf_decoder_flags {
    SFB_CBF_SWIFT = 0x1,       /* a relative first address counts from 0, as Swift writes it */
    SFB_CBF_STREAM = 0x2,      /* data may follow the terminator: see sfb_cbf_decoder_consumed() */
    SFB_CBF_REQUIRE_END = 0x4, /* data without a terminator is an error */
    SFB_CBF_EXPAND = 0x8       /* give repeats frame by frame, not as a count */
};

/* It may grow: see struct sframe_backtrace_options in <sframe_backtrace.h>. */
struct sfb_cbf_decoder_options {
    size_t size;         /* sizeof (struct sfb_cbf_decoder_options) */
    uint32_t flags;      /* enum sfb_cbf_decoder_flags */
    uint64_t max_frames; /* repeats counted, an omit as one; 0: no limit but SFB_CBF_REP_MAX
                            for each rep */
};

/* A frame, or a run of equal frames. */
struct sfb_cbf_item {
    enum sfb_frame_kind kind;
    uint64_t value; /* address; for SFB_FRAME_OMIT the number of frames left out */
    uint64_t count; /* equal frames; above 1 for a rep only */
    bool repeat;    /* they repeat the item before */
    bool relative;  /* the address was stored relative to the one before */
    size_t offset;  /* of the instruction, in bytes from the start of the data */
    size_t size;    /* bytes of the instruction, with its operand */
};

/* Private to the decoder: declare it, and call the functions below. */
struct sfb_cbf_decoder {
    const uint8_t *data;
    size_t size;
    size_t offset; /* of the next byte to read */
    uint64_t last; /* the address before */
    uint64_t frames;
    uint64_t max_frames;
    uint64_t pending;         /* repeats still to be given, with SFB_CBF_EXPAND */
    struct sfb_cbf_item item; /* the item before; count 0 at the start */
    uint32_t flags;
    uint8_t word;   /* bytes of a machine word */
    bool have_last; /* `last` is an address that was read */
    bool ended;     /* a terminator was read */
    bool truncated; /* and it was `trunc` */
};

/**
 * Starts to decode a backtrace.
 *
 * @param out      the decoder; written on SFB_OK only
 * @param data     any alignment; borrowed until the decoder is last used; may be NULL if size is 0
 * @param size     bytes at data
 * @param options  NULL: strict, one backtrace, no limit on frames
 * @param error    status, "field" and byte offset; written on failure only; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_CBF_EMPTY, SFB_CBF_VERSION, SFB_CBF_SIZE  the info byte is missing or wrong
 *         SFB_BAD_ARGUMENT  a NULL pointer, an unknown flag, or options that are not zero behind
 *                           what this version knows
 *         SFB_NO_SIZE       the size of options is not set
 *
 * Threads: safe, each with its own decoder.   Signals: safe.   Cost: constant.
 * Source: CBF specification, the information byte.
 */
SFB_API enum sfb_status sfb_cbf_decoder_init(struct sfb_cbf_decoder *out, const void *data,
                                             size_t size,
                                             const struct sfb_cbf_decoder_options *options,
                                             struct sfb_error *error);

/**
 * Decodes the next frame, or the next run of equal frames.
 *
 * A rep behind an omit gives the omit again, as Swift's reader does. Of the known encoders only
 * Swift's writes it.
 *
 * error->field is one of "opcode", "pc operand", "ra operand", "async operand", "omit operand",
 * "rep operand", "terminator", "trailing data". error->offset is that of the wrong instruction; of
 * the first byte for trailing data; the size of the data for what is missing.
 *
 * @param decoder  started
 * @param out      written on SFB_OK
 * @param error    written on SFB_CBF_*; NULL: not wanted
 *
 * @return SFB_OK     a frame is in out
 *         SFB_END    the backtrace is complete; sfb_cbf_decoder_truncated() tells how it ended
 *         SFB_CBF_*  the data is wrong at error->offset; another call gives the same answer
 *
 * Threads: safe, each with its own decoder.   Signals: safe.   Cost: constant.
 * Source: CBF specification, the instructions.
 */
SFB_API enum sfb_status sfb_cbf_decoder_next(struct sfb_cbf_decoder *decoder,
                                             struct sfb_cbf_item *out, struct sfb_error *error);

/**
 * Tells how the backtrace ended, after SFB_END.
 *
 * @return true: `trunc`; false: `end`, or no terminator
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API bool sfb_cbf_decoder_truncated(const struct sfb_cbf_decoder *decoder);

/**
 * Counts the bytes decoded so far.
 *
 * @return bytes; after SFB_END the size of this backtrace: the next may follow. After an error:
 *         bytes before the wrong instruction.
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API size_t sfb_cbf_decoder_consumed(const struct sfb_cbf_decoder *decoder);

/**
 * Gives the word size of the data.
 *
 * @return bits: 16, 32 or 64
 *
 * Threads, signals: safe.   Cost: constant.   Source: CBF specification, the information byte.
 */
SFB_API unsigned sfb_cbf_decoder_word_bits(const struct sfb_cbf_decoder *decoder);

SFB_END_DECLS

#endif
