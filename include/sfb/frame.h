/**
 * Frames: what a walk gives and what Compact Backtrace Format (CBF) stores. Stable: numbers are
 * added, never changed or reused.
 */
#ifndef SFB_FRAME_H
#define SFB_FRAME_H

#include <stdint.h>

#include "api.h"

SFB_BEGIN_DECLS

/* Kind of a frame, with CBF's numbers: how its address is looked up and symbolised. */
enum sfb_frame_kind {
    SFB_FRAME_PC = 0,    /* program counter: look it up as it is */
    SFB_FRAME_RA = 1,    /* return address: look up the byte before it */
    SFB_FRAME_ASYNC = 2, /* entry of an async resume function: look it up as it is */
    SFB_FRAME_OMIT = 3   /* not a frame: a count of frames left out */
};

/* What found a frame. Sources are tried in this order. */
enum sfb_source {
    SFB_SOURCE_START = 0,         /* no source: the frame that the walk started with */
    SFB_SOURCE_SFRAME = 1,        /* a row of .sframe */
    SFB_SOURCE_CODE_PATTERN = 2,  /* a known code pattern: code with a missing or wrong table */
    SFB_SOURCE_EH_FRAME = 3,      /* a row of .eh_frame */
    SFB_SOURCE_SIGNAL = 4,        /* the registers that the kernel saved for a signal handler */
    SFB_SOURCE_LIBUNWIND = 5,     /* a step of libunwind */
    SFB_SOURCE_FRAME_POINTER = 6, /* a guess, proven: the record at fp, or the word at sp */
    SFB_SOURCE_UNPROVEN = 7,      /* such a guess, unproven: a frame may be missing before it */
    SFB_SOURCE_ASYNC = 8,         /* no step on a stack: it awaits the coroutine before it */
    SFB_SOURCE_COUNT              /* sources that this header knows; arrays have SFB_SOURCE_ROOM */
};

/* Elements of an array indexed by enum sfb_source. It stays 16 when sources are added. */
#define SFB_SOURCE_ROOM 16

/**
 * Gives the name of a source, in one word: "sframe", "frame-pointer".
 *
 * @return a static string, never NULL; "unknown source" for other numbers
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API const char *sfb_source_str(enum sfb_source source);

struct sfb_frame {
    enum sfb_frame_kind kind;
    enum sfb_source source; /* what found this frame, in a step from the one before */
    uint64_t address;       /* pc or return address, in the process */
    uint64_t sp;            /* stack pointer of the frame: sp once control is at address */

    /*
     * enum sfb_status by enum sfb_source: why an earlier source did not find this frame, a miss or
     * a corrupt table. SFB_OK for sources that were not tried, and for the one that answered.
     */
    uint8_t missed[SFB_SOURCE_ROOM];
};

SFB_END_DECLS

#endif
