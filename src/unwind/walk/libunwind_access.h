/* What libunwind calls for every byte, word and register: the walk's memory, modules and context. */
#ifndef SFB_UNWIND_WALK_LIBUNWIND_ACCESS_H
#define SFB_UNWIND_WALK_LIBUNWIND_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "unwind/walk/libunwind.h"
#include "unwind/walk/walk_state.h"

/* One step: the argument of all accessors. */
struct sfb_libunwind_attempt {
    struct sfb_walk *walker;
    const struct sfb_context *context; /* where cursor began */
    bool at_ra;                        /* ... at a return address */
    bool register_missing;             /* libunwind asked for a register that is not known */
    bool memory_refused;               /* ... for a word that cannot be read */
    bool uncovered;                    /* ... for a pc that no .eh_frame covers */
    bool first_argument_asked;         /* ... for the register of a first argument */
    struct sfb_context quick;          /* pc, sp and fp alone */
    unw_cursor_t cursor;
};

/*
 * Members that unw_accessors_t got after libunwind 1.6, in its order. The headers of this build may be
 * older than the library that is loaded, or newer.
 */
struct sfb_libunwind_later_accessors {
    int (*get_elf_filename)(unw_addr_space_t, unw_word_t, char *, size_t, unw_word_t *, void *);
    int (*get_proc_ip_range)(unw_addr_space_t, unw_word_t, unw_word_t *, unw_word_t *, void *);
    unw_word_t (*ptrauth_insn_mask)(unw_addr_space_t, void *);
};

/*
 * unw_accessors_t of whatever version: libunwind copies as much of it as it knows. No member is garbage,
 * and none is NULL, whether the headers of this build have it or not.
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

/* Fills in all of them, the room behind those that are known here, too. */
void sfb_libunwind_accessors_fill(union sfb_libunwind_accessors *out);

/*
 * Whether libunwind has called a member that nobody had heard of when this was written. What it makes of
 * the answer is not known: its step is not taken, and the fallback is off from then on.
 */
bool sfb_libunwind_is_unknown(void);

#endif
