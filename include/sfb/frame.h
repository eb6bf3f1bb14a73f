/**
 * Frames: what a walk yields and what Compact Backtrace Format stores.
 */
#ifndef SFB_FRAME_H
#define SFB_FRAME_H

#include <stdint.h>

#include "api.h"

SFB_BEGIN_DECLS

/* The kinds are CBF's own; they decide how an address is looked up and symbolised. */
enum sfb_frame_kind {
    SFB_FRAME_PC = 0,    /* a real program counter: look it up as it is */
    SFB_FRAME_RA = 1,    /* a return address: look up the byte before it */
    SFB_FRAME_ASYNC = 2, /* the entry of an async resume function: look it up as it is */
    SFB_FRAME_OMIT = 3   /* no frame: a number of frames that were left out */
};

/* Who found a frame, in the order in which they are asked. */
enum sfb_source {
    SFB_SOURCE_START = 0,         /* nobody: it is the frame that the walk began with */
    SFB_SOURCE_SFRAME = 1,        /* a row of an .sframe section */
    SFB_SOURCE_STUB = 2,          /* code of a known shape, whose table is missing or wrong */
    SFB_SOURCE_EH_FRAME = 3,      /* a row of .eh_frame */
    SFB_SOURCE_SIGNAL = 4,        /* the registers that the kernel saved for a signal handler */
    SFB_SOURCE_LIBUNWIND = 5,     /* a step of libunwind */
    SFB_SOURCE_FRAME_POINTER = 6, /* a guess: the frame record that the frame pointer leads to */
    SFB_SOURCE_UNPROVEN = 7,      /* reserved: such a guess that nothing proves */
    SFB_SOURCE_COUNT
};

/**
 * Names a source in one word: "sframe", "frame-pointer".
 *
 * @return a static string; "unknown source" for a number that is none
 *
 * Threads: safe.   Signals: safe.   Cost: constant.
 */
SFB_API const char *sfb_source_str(enum sfb_source source);

/* Elements of an array by source: there is room for those to come. */
#define SFB_SOURCE_ROOM 16

struct sfb_frame {
    enum sfb_frame_kind kind;
    enum sfb_source source; /* who found this frame, by a step out of the one before */
    uint64_t address;       /* pc or return address, in the process */
    uint64_t sp;            /* stack pointer of the frame: what sp is once control is at address */

    /*
     * missed[s] is why source s, though asked earlier, did not find this frame: a miss or what was
     * wrong with its tables. SFB_OK for those that were not asked, and for the one that answered.
     */
    uint8_t missed[SFB_SOURCE_ROOM];
};

SFB_END_DECLS

#endif
