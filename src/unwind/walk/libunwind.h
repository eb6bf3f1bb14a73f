/*
 * libunwind, as a walk uses it: functions of its library for this machine, and an address space with our
 * accessors (libunwind_access.h). A walk never loads it: process/libunwind_load.c does.
 */
#ifndef SFB_UNWIND_WALK_LIBUNWIND_H
#define SFB_UNWIND_WALK_LIBUNWIND_H

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

#endif
