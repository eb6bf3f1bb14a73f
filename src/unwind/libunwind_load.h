/* The functions of libunwind that the fallback calls, bound when this library is loaded. */
#ifndef SFB_UNWIND_LIBUNWIND_LOAD_H
#define SFB_UNWIND_LIBUNWIND_LOAD_H

#include <libunwind.h>

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

/* What libunwind calls back for every byte, word and register: fallback_libunwind.c. */
extern const unw_accessors_t sfb_libunwind_accessors;

#endif
