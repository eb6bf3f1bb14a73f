/* The functions of libunwind that the fallback calls, bound when this library is loaded. */
#ifndef SFB_UNWIND_WALK_LIBUNWIND_LOAD_H
#define SFB_UNWIND_WALK_LIBUNWIND_LOAD_H

#include <libunwind.h>
#include <stdbool.h>
#include <stddef.h>

struct sfb_libunwind {
    unw_addr_space_t space;
    __typeof__(unw_init_remote) *init_remote;
    __typeof__(unw_step) *step;
    __typeof__(unw_get_reg) *get_reg;
    __typeof__(unw_get_save_loc) *get_save_loc;
    int (*search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *,
                               int, void *);
};

/* @return NULL where libunwind could not be loaded */
const struct sfb_libunwind *sfb_libunwind(void);

/* What libunwind calls back for every byte, word and register: source_libunwind.c. */
extern const unw_accessors_t sfb_libunwind_accessors;

/*
 * Members that unw_accessors_t got after libunwind 1.6, in its order. The headers of this build may be
 * older than the library that is loaded, or newer.
 */
struct sfb_libunwind_later_accessors {
    int (*get_elf_filename)(unw_addr_space_t, unw_word_t, char *, size_t, unw_word_t *, void *);
    int (*get_proc_ip_range)(unw_addr_space_t, unw_word_t, unw_word_t *, unw_word_t *, void *);
    unw_word_t (*ptrauth_insn_mask)(unw_addr_space_t, void *);
};

extern const struct sfb_libunwind_later_accessors sfb_libunwind_later_accessors;

/*
 * Whether libunwind has called a member that nobody had heard of when this was written. What it makes of
 * the answer is not known: its step is not taken, and the fallback is off from then on.
 */
bool sfb_libunwind_is_unknown(void);

#endif
