/**
 * Compact Backtrace Format, version 0: a streaming encoder and a pull decoder.
 *
 * Neither allocates; both keep their whole state in a small struct that the caller owns. Addresses
 * are 64 bits wide in this interface, whatever the word size of the data.
 */
#ifndef SFB_CBF_H
#define SFB_CBF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "status.h"

SFB_BEGIN_DECLS

/* One rep instruction repeats at most this often, here and in Swift's reader. */
#define SFB_CBF_REP_MAX 0x100000

/* Bytes that the smallest backtrace needs: the info byte and a terminator. */
#define SFB_CBF_SIZE_MIN 2

/* Bytes that one more frame can cost at most, with 64-bit words. */
#define SFB_CBF_FRAME_SIZE_MAX 9

/* Private to the encoder; at most 64 bytes. */
struct sfb_cbf_encoder {
    uint8_t *pos;     /* where the next instruction goes */
    uint8_t *limit;   /* end of the buffer less the byte that is kept for the terminator */
    uint8_t *start;   /* of the buffer */
    uint64_t last;    /* the address before, 0 if there is none */
    uint32_t repeats; /* what the rep instruction before pos says, 0 if there is none */
    uint8_t shift;    /* 64 less the bits of a machine word */
    uint8_t kind;     /* of the frame before, or none */
    uint8_t first;    /* not 0 until an address was written: it may not be relative */
};

/**
 * Starts a backtrace in a buffer: writes the info byte and keeps a byte for the terminator.
 *
 * @param out        the encoder; written on SFB_OK only
 * @param buffer     borrowed until sfb_cbf_encoder_end(); the nine bytes behind the encoded ones
 *                   may be overwritten, those further on and those behind size never
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
 * The bytes are the fewest that the format allows for the frames so far: the shorter of absolute
 * and relative (relative on a tie, absolute for the first address), and one growing `rep` for
 * equal frames in a row, up to SFB_CBF_REP_MAX or what a word holds. Two equal omits stay two: it
 * is not said whether an omit is a frame to be repeated.
 *
 * @param kind   of the frame
 * @param value  its address; for SFB_FRAME_OMIT the number of frames left out, at least 1
 *
 * @return SFB_OK
 *         SFB_BUFFER_FULL   the frame does not fit, though a shorter one might; nothing was
 *                           changed
 *         SFB_BAD_ARGUMENT  value is wider than the word, an omit of 0, or no such kind; nothing
 *                           was changed
 *
 * Threads, signals: safe.   Cost: constant, 3 to 5 ns.
 * Source: CBF specification, the instructions.
 */
SFB_API enum sfb_status sfb_cbf_encoder_put(struct sfb_cbf_encoder *encoder,
                                            enum sfb_frame_kind kind, uint64_t value);

/**
 * Says that the buffer has grown, as when space that was kept behind it is released.
 *
 * @param size  bytes from the start of the buffer; what is less than before changes nothing
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API void sfb_cbf_encoder_extend(struct sfb_cbf_encoder *encoder, size_t size);

/**
 * Ends the backtrace: there is always room for it.
 *
 * The encoder stays as it was: frames may follow, over the terminator, and another end.
 *
 * @param truncated  there were more frames (`trunc`), or this is all (`end`)
 *
 * @return bytes in the buffer, from its start through the terminator
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API size_t sfb_cbf_encoder_end(struct sfb_cbf_encoder *encoder, bool truncated);

/*
 * How data is read. Without flags it is read strictly, as one backtrace: the first address must be
 * absolute, and nothing may follow the terminator. The terminator itself may be missing, since the
 * specification allows that where the size is known.
 */
enum sfb_cbf_decoder_flags {
    SFB_CBF_SWIFT = 0x1,       /* a relative first address counts from 0, as Swift writes it */
    SFB_CBF_STREAM = 0x2,      /* more data may follow the terminator: see _consumed() */
    SFB_CBF_REQUIRE_END = 0x4, /* data that ends without a terminator is an error */
    SFB_CBF_EXPAND = 0x8       /* give repeats frame by frame instead of as a count */
};

struct sfb_cbf_decoder_options {
    size_t size;         /* sizeof (struct sfb_cbf_decoder_options): lets the struct grow */
    uint32_t flags;      /* enum sfb_cbf_decoder_flags */
    uint64_t max_frames; /* repeats counted, an omit as one; 0: no limit but SFB_CBF_REP_MAX
                            for each rep */
};

/* What one call of sfb_cbf_decoder_next() gives. */
struct sfb_cbf_item {
    enum sfb_frame_kind kind;
    uint64_t value; /* address; for SFB_FRAME_OMIT the number of frames left out */
    uint64_t count; /* how many equal frames this stands for; above 1 only for a rep */
    bool repeat;    /* they repeat the item before */
    bool relative;  /* the address was stored relative to the one before */
    size_t offset;  /* of the instruction in the data */
    size_t size;    /* bytes of the instruction, with its operand */
};

/* Private to the decoder. */
struct sfb_cbf_decoder {
    const uint8_t *data;
    size_t size;
    size_t offset; /* of the next byte to read */
    uint64_t last; /* the address before */
    uint64_t frames;
    uint64_t max_frames;
    uint64_t pending;         /* repeats still to be given, with SFB_CBF_EXPAND */
    struct sfb_cbf_item item; /* the one before; its count is 0 if there is none */
    uint32_t flags;
    uint8_t word;   /* bytes of a machine word */
    bool have_last; /* a relative address has something to be relative to */
    bool ended;     /* a terminator was read */
    bool truncated; /* and it was `trunc` */
};

/**
 * Starts to read a backtrace.
 *
 * @param out      the decoder; written on SFB_OK only
 * @param data     borrowed until the decoder is last used; may be NULL if size is 0
 * @param options  NULL: strict, one backtrace, no limit on frames
 * @param error    status, "field" and byte offset; written on failure only; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_CBF_EMPTY, SFB_CBF_VERSION, SFB_CBF_SIZE  the info byte is missing or wrong
 *         SFB_BAD_ARGUMENT  a NULL pointer, an options->size that this library does not know, or
 *                           an unknown flag
 *
 * Threads: safe, each with its own decoder.   Signals: safe.   Cost: constant.
 * Source: CBF specification, the information byte.
 */
SFB_API enum sfb_status sfb_cbf_decoder_init(struct sfb_cbf_decoder *out, const void *data,
                                             size_t size,
                                             const struct sfb_cbf_decoder_options *options,
                                             struct sfb_error *error);

/**
 * Gives the next frame, or the next run of equal frames.
 *
 * A rep behind an omit gives the omit again, as Swift's reader does; no known encoder but Swift's
 * writes it. The error's offset is where the wrong instruction begins, save for what is missing
 * (the size of the data) and for bytes behind the terminator (the first of them); its field is one
 * of "opcode", "pc operand", "ra operand", "async operand", "omit operand", "rep operand",
 * "terminator", "trailing data".
 *
 * @param out    written on SFB_OK
 * @param error  status, what was being read, and byte offset; written on failure; NULL: not wanted
 *
 * @return SFB_OK   a frame is in out
 *         SFB_END  the backtrace is complete; sfb_cbf_decoder_truncated() tells `end` from `trunc`
 *         SFB_CBF_*  the data is wrong at error->offset; asking again gives the same answer
 *
 * Threads, signals: safe.   Cost: constant.   Source: CBF specification, the instructions.
 */
SFB_API enum sfb_status sfb_cbf_decoder_next(struct sfb_cbf_decoder *decoder,
                                             struct sfb_cbf_item *out, struct sfb_error *error);

/** @return whether the backtrace ended in `trunc`; meaningful after SFB_END. */
SFB_API bool sfb_cbf_decoder_truncated(const struct sfb_cbf_decoder *decoder);

/**
 * @return bytes read so far: after SFB_END the size of this backtrace, so the next may follow;
 *         after an error those before the instruction that is wrong
 */
SFB_API size_t sfb_cbf_decoder_consumed(const struct sfb_cbf_decoder *decoder);

/** @return the word size of the data in bits: 16, 32 or 64. */
SFB_API unsigned sfb_cbf_decoder_word_bits(const struct sfb_cbf_decoder *decoder);

SFB_END_DECLS

#endif
