/* Accessors: libunwind reads each byte, word and register through them, from the walk's memory, modules and context. */
#ifndef SFB_UNWIND_WALK_LIBUNWIND_ACCESS_H
#define SFB_UNWIND_WALK_LIBUNWIND_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "unwind/walk/libunwind.h"
#include "unwind/walk/walk_state.h"

/* One step: the argument of all accessors. */
struct sfb_libunwind_attempt {
    struct sfb_walk *walker;
    const struct sfb_context *context; /* start of cursor */
    bool at_ra;                        /* the start is a return address */
    bool register_missing;             /* libunwind read a register of unknown value */
    bool memory_refused;               /* libunwind read an unreadable word */
    bool uncovered;                    /* libunwind looked up a pc that no .eh_frame covers */
    bool first_argument_asked;         /* libunwind read the register of a first argument */
    struct sfb_context quick;          /* pc, sp and fp only */
    unw_cursor_t cursor;
};

/*
 * Members added to unw_accessors_t after libunwind 1.6, in its order. The headers of this build may be
 * older or newer than the loaded library.
 */
struct sfb_libunwind_later_accessors {
    int (*get_elf_filename)(unw_addr_space_t, unw_word_t, char *, size_t, unw_word_t *, void *);
    int (*get_proc_ip_range)(unw_addr_space_t, unw_word_t, unw_word_t *, unw_word_t *, void *);
    unw_word_t (*ptrauth_insn_mask)(unw_addr_space_t, void *);
};

/*
 * unw_accessors_t of any version: libunwind copies the members that it knows. Each member is a valid
 * function, whether the headers of this build have it or not.
 */
enum { SFB_LIBUNWIND_ACCESSORS_1_6 = 8, SFB_LIBUNWIND_ACCESSORS_MAX = 64 };

union sfb_libunwind_accessors {
    unw_accessors_t known;
    struct {
        unw_word_t (*first[SFB_LIBUNWIND_ACCESSORS_1_6])(void);
        struct sfb_libunwind_later_accessors later;
    } all;
    unw_word_t (*room[SFB_LIBUNWIND_ACCESSORS_MAX])(void);
};

/* Fills in all members, also the room behind the known ones. */
void sfb_libunwind_accessors_fill(union sfb_libunwind_accessors *out);

/*
 * Tells whether libunwind has called a member of a later version, unknown here. It is not known how
 * libunwind uses the result. So its step is dropped, and the fallback is off from then on.
 */
bool sfb_libunwind_is_unknown(void);

#endif
