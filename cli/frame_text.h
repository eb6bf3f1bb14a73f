/*
 * Backtraces as text, an instruction a line: what `sfb decode` prints and `sfb encode` reads.
 *
 *     bits 32                the word size, before the first frame; 64 where it is not said
 *     pc 0x401136            likewise ra, async
 *     omit 5
 *     rep 3                  the frame before, three times more
 *     truncated              or trunc, or end: nothing more in this backtrace
 *
 * An empty line starts the next backtrace; from # to the end of a line is a comment.
 */
#ifndef CLI_FRAME_TEXT_H
#define CLI_FRAME_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <sfb/frame.h>

enum frame_text_what {
    FRAME_TEXT_EMPTY,
    FRAME_TEXT_COMMENT,
    FRAME_TEXT_FRAME, /* pc, ra, async, omit */
    FRAME_TEXT_REP,
    FRAME_TEXT_BITS,
    FRAME_TEXT_END,
    FRAME_TEXT_TRUNCATED
};

struct frame_text {
    enum frame_text_what what;
    enum sfb_frame_kind kind; /* of a FRAME */
    uint64_t value;           /* address, count or bits */
};

/*
 * Reads one line.
 *
 * @param line    without its newline; need not end in a zero byte
 * @return NULL, or what is wrong with the line
 */
const char *frame_text_parse(struct frame_text *out, const char *line, size_t length);

/* Writes "pc 0x401136" or "omit 5" to stdout, without a newline. @return characters written */
int frame_text_print(enum sfb_frame_kind kind, uint64_t value);

#endif
