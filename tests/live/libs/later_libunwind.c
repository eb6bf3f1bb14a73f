/*
 * A libunwind of a later day, for live.libunwind_later: its structure of accessors has members that
 * nobody has heard of, it looks whether there is room for them, and it calls one.
 */
#include "live/libs/later_libunwind.h"

#include <string.h>

struct later_libunwind later_libunwind;

static unw_word_t (*member[LATER_MEMBERS])(void);
static int (*get_elf_filename)(unw_addr_space_t, unw_word_t, char *, size_t, unw_word_t *, void *);
static int (*get_proc_ip_range)(unw_addr_space_t, unw_word_t, unw_word_t *, unw_word_t *, void *);
static unw_word_t (*ptrauth_insn_mask)(unw_addr_space_t, void *);

unw_addr_space_t unw_create_addr_space(unw_accessors_t *accessors, int byte_order)
{
    (void)byte_order;
    memcpy(member, accessors, sizeof member);
    memcpy(&get_elf_filename, &member[LATER_FILE_NAME], sizeof get_elf_filename);
    memcpy(&get_proc_ip_range, &member[LATER_IP_RANGE], sizeof get_proc_ip_range);
    memcpy(&ptrauth_insn_mask, &member[LATER_MASK], sizeof ptrauth_insn_mask);
    for (unsigned i = 0; i < LATER_MEMBERS; i++)
        later_libunwind.missing += member[i] == NULL;
    return (unw_addr_space_t)&later_libunwind;
}

int unw_set_caching_policy(unw_addr_space_t space, unw_caching_policy_t policy)
{
    (void)space;
    (void)policy;
    return 0;
}

int unw_init_remote(unw_cursor_t *cursor, unw_addr_space_t space, void *arg)
{
    (void)cursor;
    (void)space;
    (void)arg;
    return 0;
}

int unw_step(unw_cursor_t *cursor)
{
    unw_addr_space_t space = (unw_addr_space_t)&later_libunwind;
    unw_word_t start, end;
    char name[8];

    (void)cursor;
    later_libunwind.steps++;
    later_libunwind.file_name = get_elf_filename(space, 1, name, sizeof name, &start, NULL);
    later_libunwind.ip_range = get_proc_ip_range(space, 1, &start, &end, NULL);
    later_libunwind.mask = ptrauth_insn_mask(space, NULL);
    member[later_libunwind.unknown]();
    return 1;
}

int unw_get_reg(unw_cursor_t *cursor, int reg, unw_word_t *value)
{
    (void)cursor;
    (void)reg;
    *value = UINT64_MAX / 2 & ~(unw_word_t)7; /* outside of every frame */
    return 0;
}

int unw_get_save_loc(unw_cursor_t *cursor, int reg, unw_save_loc_t *out)
{
    (void)cursor;
    (void)reg;
    memset(out, 0, sizeof *out);
    return 0;
}

#define NAME_(x) #x
#define NAME(x)  NAME_(x)

int search_unwind_table(unw_addr_space_t space, unw_word_t pc, unw_dyn_info_t *table,
                        unw_proc_info_t *out, int need_unwind_info,
                        void *arg) __asm__(NAME(UNW_OBJ(dwarf_search_unwind_table)));

int search_unwind_table(unw_addr_space_t space, unw_word_t pc, unw_dyn_info_t *table,
                        unw_proc_info_t *out, int need_unwind_info, void *arg)
{
    (void)space;
    (void)pc;
    (void)table;
    (void)out;
    (void)need_unwind_info;
    (void)arg;
    return -UNW_ENOINFO;
}
