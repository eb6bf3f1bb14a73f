/**
 * Status: the result of every call that can fail. Stable: numbers are added, never changed or
 * reused.
 *
 * The decade says what to do, so a program can act on a status that it does not know:
 *
 *     0       done
 *     1       the walk is complete
 *     10-19   miss:    this source has no answer for the pc -> try the next source
 *     20-29   corrupt: a table contradicts its specification -> do not use it
 *     30-39   limit:   the caller's limit was reached -> ask for more, or live with it
 *     40-59   stack:   the stack cannot be followed -> stop, the backtrace is truncated
 *     60-69   usage:   fix the program
 *     70-89   CBF:     the bytes are not Compact Backtrace Format
 */
#ifndef SFB_STATUS_H
#define SFB_STATUS_H

#include <stdint.h>

#include "api.h"

SFB_BEGIN_DECLS

enum sfb_status {
    SFB_OK = 0,
    SFB_END = 1, /* outermost frame reached; the walk is complete */

    SFB_NO_MODULE = 10,       /* no loaded module contains the pc */
    SFB_NO_FDE = 11,          /* no function of the section covers the pc */
    SFB_NO_FRE = 12,          /* the function has no row for the pc */
    SFB_NO_SECTION = 13,      /* the module has no .sframe section */
    SFB_NO_CFI = 14,          /* no FDE of .eh_frame covers the pc */
    SFB_NO_LIBUNWIND = 15,    /* libunwind is not built in, not installed, or switched off */
    SFB_NO_CODE_PATTERN = 16, /* the code at the pc matches no pattern that a source knows */
    SFB_NO_FRAME_RECORD = 17, /* fp leads to no plausible frame record */
    SFB_NO_SP = 18,           /* sp is not known: the frame was reached by a frame record */
    SFB_NO_EH_FRAME = 19,     /* the module has no .eh_frame_hdr */

    SFB_BAD_MAGIC = 20,       /* not an SFrame section */
    SFB_BAD_VERSION = 21,     /* a version of SFrame that is not supported */
    SFB_TRUNCATED = 22,       /* a table ends past the section */
    SFB_BAD_HEADER = 23,      /* a header field contradicts the specification */
    SFB_BAD_FDE = 24,         /* a function entry (FDE) contradicts the specification */
    SFB_BAD_FRE = 25,         /* a row (FRE) contradicts the specification */
    SFB_BAD_ABI = 26,         /* the section is for another machine */
    SFB_BAD_ELF = 27,         /* the program headers contradict themselves */
    SFB_BAD_CFI = 28,         /* .eh_frame contradicts its specification, or is not supported */
    SFB_NOT_EXPRESSIBLE = 29, /* a row of .eh_frame that no rule can state: an expression */

    SFB_FRAME_LIMIT = 30, /* max_frames were written, and there are more */
    SFB_BUFFER_FULL = 31, /* the buffer is full, and there are more frames */
    SFB_WORK_LIMIT = 32,  /* the walk's budget is used up: see max_work */

    SFB_UNREADABLE = 40,     /* a stack word could not be read */
    SFB_NO_PROGRESS = 41,    /* the caller's frame does not lie above its callee's */
    SFB_MISALIGNED = 42,     /* sp is not word-aligned */
    SFB_ZERO_RA = 43,        /* a return address of zero: a stack made by hand, or overwritten */
    SFB_NO_REGISTER = 44,    /* the rule needs a register of unknown value */
    SFB_SIGNAL_LIMIT = 45,   /* too many signal frames on one stack */
    SFB_UNWINDER_ERROR = 46, /* libunwind refused the frame */
    SFB_NOT_A_CALL = 47,    /* a return address in code that begins stacks, but not behind a call */
    SFB_UNPROVEN_END = 48,  /* apparently the outermost frame: reached by an unproven guess */
    SFB_STACK_CHANGED = 49, /* the frame of options.resume has returned or calls from elsewhere */
    SFB_STACK_CUT = 50,     /* a copied stack ends before the stack itself does */
    SFB_BAD_CONTINUATION = 51,    /* it is unreadable, done, or resumes at no function's start */
    SFB_CONTINUATION_CIRCLE = 52, /* a coroutine awaits itself, through others */

    SFB_BAD_ARGUMENT = 60,     /* an argument is out of its documented range */
    SFB_BUFFER_TOO_SMALL = 61, /* no room for the info byte and a terminator */
    SFB_NO_RESOURCE = 62,      /* the system refused memory or another resource */
    SFB_NO_SIZE = 63,          /* the member `size` of a struct is not set */

    SFB_CBF_EMPTY = 70,             /* no bytes at all */
    SFB_CBF_VERSION = 71,           /* the info byte names a version other than 0 */
    SFB_CBF_SIZE = 72,              /* the info byte names the reserved word size */
    SFB_CBF_RESERVED_OPCODE = 73,   /* an opcode that version 0 does not define */
    SFB_CBF_TRUNCATED_OPERAND = 74, /* the data ends inside an operand */
    SFB_CBF_TOO_WIDE = 75,          /* an operand wider than the machine word */
    SFB_CBF_RELATIVE_FIRST = 76,    /* the first address is not absolute */
    SFB_CBF_OMIT_ZERO = 77,         /* omit 0 */
    SFB_CBF_REP_FIRST = 78,         /* rep with no frame before it */
    SFB_CBF_REP_ZERO = 79,          /* rep 0 */
    SFB_CBF_REP_LIMIT = 80,         /* more than 2^20 repeats in one instruction */
    SFB_CBF_FRAME_LIMIT = 81,       /* more frames than the reader allows */
    SFB_CBF_NO_END = 82,            /* the data ends without end or trunc */
    SFB_CBF_TRAILING_DATA = 83      /* bytes behind end or trunc */
};

/* Where and why bytes were refused. Written by a call that fails on bytes. */
struct sfb_error {
    enum sfb_status status;
    const char *field; /* static string, such as "sfh_num_fdes"; never NULL */
    uint64_t offset;   /* bytes from the first byte that the call was given */
};

/**
 * Gives the text of a status: a few words of English without a full stop.
 *
 * @return a static string, never NULL; "unknown status" for other numbers
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API const char *sfb_status_str(enum sfb_status status);

SFB_END_DECLS

#endif
