#include "unwind/walk/libunwind_access.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "eh_frame/cfi_program.h"
#include "eh_frame/header.h"
#include "unwind/machine/arch.h"
#include "unwind/walk/position.h"

_Static_assert(offsetof(unw_accessors_t, get_proc_name) ==
                   offsetof(union sfb_libunwind_accessors,
                            all.first[SFB_LIBUNWIND_ACCESSORS_1_6 - 1]),
               "the last member of 1.6");
_Static_assert(sizeof(unw_accessors_t) <= sizeof(union sfb_libunwind_accessors), "there is room");

static atomic_bool unknown;

bool sfb_libunwind_is_unknown(void)
{
    return atomic_load_explicit(&unknown, memory_order_relaxed);
}

/* Stands for every member that a later libunwind may have. */
static unw_word_t unknown_accessor(void)
{
    atomic_store_explicit(&unknown, true, memory_order_relaxed);
    return 0;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
                      void *arg)
{
    struct sfb_libunwind_attempt *a = arg;
    struct sfb_walk *walker;
    bool read;

    (void)space;
    if (!a || write || a->walker->libunwind_reads == 0)
        return -UNW_EINVAL;
    walker = a->walker;
    walker->libunwind_reads--;
    /* Addresses in the module are tables and code; all others are stack words. */
    if (walker->module && address >= walker->module->start && address < walker->module->end) {
        read = sfb_memory_copy(&walker->table_memory, address, value, sizeof *value);
    } else {
        read = (address & 7) == 0 && sfb_memory_read(walker->memory, address, value);
        /* A saved register: an address of code or data, or a value that no rule needs. */
        if (read)
            *value &= SFB_ARCH_CODE_MASK;
    }
    a->memory_refused |= !read;
    return read ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write,
                      void *arg)
{
    struct sfb_libunwind_attempt *a = arg;

    (void)space;
    if (!a) { /* the warm-up */
        *value = 0;
        return 0;
    }
    a->first_argument_asked |= reg == 0;
    if (write || reg < 0 || reg >= SFB_CONTEXT_REGS || !(a->context->valid >> reg & 1)) {
        a->register_missing = true;
        return -UNW_EBADREG;
    }
    /* libunwind looks up a return address, and its rule, by the byte before it. */
    *value = (a->context->reg[reg] & SFB_ARCH_CODE_MASK) - (reg == SFB_ARCH_PC && a->at_ra);
    return 0;
}

static int search_module(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
                         int need_unwind_info, struct sfb_libunwind_attempt *a)
{
    struct sfb_walk *walker = a->walker;
    const struct sfb_eh_frame *eh;
    struct sfb_cfi_fde fde;
    unw_dyn_info_t table = { 0 };
    uint32_t entry;

    if (!sfb_walker_find_module(walker, pc) || walker->module->eh_frame_status != SFB_OK)
        return -UNW_ENOINFO;
    eh = &walker->module->eh_frame;
    /*
     * libunwind gets only the one entry that our own reader has validated: libunwind 1.6.2 indexes
     * arrays with register numbers from the entry, unchecked.
     */
    if (sfb_eh_frame_entry_find(eh, pc, &entry, &fde, NULL) != SFB_OK ||
        !sfb_cfi_is_sound(eh, &fde))
        return -UNW_ENOINFO;
    if (walker->modules->tables_are_mapped && eh->gap_end == 0) {
        /* The loader mapped that segment, in whole pages: no page of it has to be probed. */
        walker->table_memory.lo = eh->address & ~(uint64_t)7;
        walker->table_memory.hi = (eh->address + eh->size + 7) & ~(uint64_t)7;
    }
    table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    table.start_ip = walker->module->start;
    table.end_ip = walker->module->end;
    table.u.rti.segbase = eh->address + eh->hdr;
    table.u.rti.table_data = eh->address + eh->table + (uint64_t)entry * SFB_EH_PAIR_SIZE;
    table.u.rti.table_len = 1; /* in words; an entry is one word */
    return walker->modules->libunwind->search_unwind_table(space, pc, &table, info,
                                                           need_unwind_info, a);
}

static int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
                          int need_unwind_info, void *arg)
{
    struct sfb_libunwind_attempt *a = arg;
    int result = search_module(space, pc, info, need_unwind_info, a);

    if (result != 0)
        a->uncovered = true;
    return result;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
    (void)space; /* libunwind itself frees what its table search allocated */
    (void)info;
    (void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *address, void *arg)
{
    (void)space; /* code registered at run time: not known here */
    (void)address;
    (void)arg;
    return -UNW_ENOINFO;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
                        void *arg)
{
    (void)space;
    (void)reg;
    (void)value;
    (void)write;
    (void)arg;
    return -UNW_EBADREG;
}

static int get_elf_filename(unw_addr_space_t space, unw_word_t address, char *name, size_t size,
                            unw_word_t *offset, void *arg)
{
    (void)space;
    (void)address;
    (void)name;
    (void)size;
    (void)offset;
    (void)arg;
    return -UNW_ENOINFO;
}

static int get_proc_ip_range(unw_addr_space_t space, unw_word_t address, unw_word_t *start,
                             unw_word_t *end, void *arg)
{
    (void)space;
    (void)address;
    (void)start;
    (void)end;
    (void)arg;
    return -UNW_ENOINFO;
}

/* The bits of a return address that are not part of the address. */
static unw_word_t ptrauth_insn_mask(unw_addr_space_t space, void *arg)
{
    (void)space;
    (void)arg;
    return ~SFB_ARCH_CODE_MASK;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
    (void)space;
    (void)cursor;
    (void)arg;
    return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t address, char *name, size_t size,
                         unw_word_t *offset, void *arg)
{
    (void)space;
    (void)address;
    (void)name;
    (void)size;
    (void)offset;
    (void)arg;
    return -UNW_ENOINFO;
}

static const unw_accessors_t known_accessors = {
    .find_proc_info = find_proc_info,
    .put_unwind_info = put_unwind_info,
    .get_dyn_info_list_addr = get_dyn_info_list_addr,
    .access_mem = access_mem,
    .access_reg = access_reg,
    .access_fpreg = access_fpreg,
    .resume = resume,
    .get_proc_name = get_proc_name,
};

static const struct sfb_libunwind_later_accessors later_accessors = {
    .get_elf_filename = get_elf_filename,
    .get_proc_ip_range = get_proc_ip_range,
    .ptrauth_insn_mask = ptrauth_insn_mask,
};

void sfb_libunwind_accessors_fill(union sfb_libunwind_accessors *out)
{
    for (unsigned i = 0; i < SFB_LIBUNWIND_ACCESSORS_MAX; i++)
        out->room[i] = unknown_accessor;
    memcpy(out, &known_accessors, offsetof(union sfb_libunwind_accessors, all.later));
    out->all.later = later_accessors;
}
