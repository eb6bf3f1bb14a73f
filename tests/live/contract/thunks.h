/*
 * Every public function as something that can be run in any situation: with arguments as a program
 * has them, and over enough of the process's own data that it goes its longer ways, too.
 */
#ifndef CONTRACT_THUNKS_H
#define CONTRACT_THUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "sfb/cbf.h"
#include "sfb/walk.h"
#include "sframe_backtrace.h"
#include "sframe_backtrace_crash.h"

enum { THUNK_BYTES = 4096, THUNK_ADDRESSES = 512 };

/* What a thunk works on: one for each thread, never on the stack that is looked at. */
struct thunk_room {
    ucontext_t *ucontext; /* of a signal, or taken by getcontext(), on a stack that is deep */
    unsigned stride;      /* how much of the tables is passed over; 1: none of them */
    struct sframe_backtrace_options options;
    struct sframe_backtrace_resume resume;
    struct sframe_backtrace_info info;
    enum sfb_status end;
    struct sfb_context context;
    struct sfb_walker walker;
    bool spurious;
    struct sfb_frame frame;
    struct sfb_regs regs;
    struct sfb_section section;
    struct sfb_fde fde;
    struct sfb_fre fre;
    struct sfb_rule rule;
    struct sfb_eh_frame eh;
    struct sfb_eh_frame_walk walk;
    struct sfb_cfi_fde cfi;
    struct sfb_cfi_rows rows;
    struct sfb_cbf_encoder encoder;
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    struct sfb_error error;
    void *addresses[THUNK_ADDRESSES];
    uint8_t bytes[THUNK_BYTES];
    size_t size;
    ucontext_t own; /* a place for ucontext, that stays when the room is cleared */
};

typedef void thunk_fn(struct thunk_room *);

struct thunk {
    const char *function;
    thunk_fn *prepare; /* in the situation, too, but not looked at; NULL: nothing */
    thunk_fn *run;     /* the function, and if possible no other one of the library */
    thunk_fn *end;     /* puts things back, so that it can be run again; NULL: nothing */
};

/* The thunks of one file each, ended by one without a name. */
extern const struct thunk capture_thunks[], table_thunks[], other_thunks[];

/* Tables of this process, which all threads read: found once, by find_tables(). */
struct tables {
    const void *sframe; /* of the program */
    size_t sframe_size;
    const uint8_t *text; /* libc's segment with .eh_frame_hdr */
    size_t text_size;
    uint64_t hdr;
    const uint8_t *data; /* the one of its data, behind */
    size_t data_size;
};

extern struct tables tables;

/* @return whether both are there */
bool find_tables(void);

/* Calls one function for every thunk. */
void for_each_thunk(void (*visit)(const struct thunk *, void *), void *arg);

/* Makes a room as thunks expect it. */
void clear_room(struct thunk_room *room, ucontext_t *ucontext, unsigned stride);

#endif
