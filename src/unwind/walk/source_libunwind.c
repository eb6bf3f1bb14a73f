/*
 * One step by libunwind, for the frames that our own tables do not cover.
 *
 * libunwind as everybody uses it is no guest for a signal handler: to find a table it takes the
 * loader's lock, to check a pointer it opens a pipe. Here it runs as if the process were another
 * one: all that it reads goes through the functions below, which find modules through
 * _dl_find_object() and read memory by the walker's policy. What is left of its habits: two pool
 * allocations a step from static memory, under an internal mutex with all signals blocked.
 *
 * It has to start from registers that are true. Tables track pc, sp and fp alone, which does for
 * most frames (the quick start). Where a rule asks for another one (rbx in the lazy binding of
 * ld.so, r10 in frames that realign their stack) the walk is done again from the nearest frame of
 * which all registers are known, up to the same frame (the replay).
 *
 * The cursor is made anew for each step: its kilobyte (two on AArch64) is then on the stack only
 * while libunwind runs, and not in every walker. It is asked so seldom, and so seldom twice in a
 * row, that keeping it would save nothing.
 */
#include "unwind/walk/source_libunwind.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "eh_frame/header.h"
#include "eh_frame/rule.h"
#include "unwind/machine/arch.h"
#include "unwind/walk/libunwind_load.h"
#include "unwind/walk/position.h"
#include "unwind/walk/step.h"

/* One step. */
struct attempt {
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

/* --- What libunwind calls --------------------------------------------------------------------- */

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
                      void *arg)
{
    struct attempt *a = arg;
    struct sfb_walk *walker;
    bool read;

    (void)space;
    if (!a || write || a->walker->libunwind_reads == 0)
        return -UNW_EINVAL;
    walker = a->walker;
    walker->libunwind_reads--;
    /* Stack words are on the stack's pages; whatever else it reads are tables and code. */
    if (walker->module && address >= walker->module->start && address < walker->module->end) {
        read = sfb_memory_copy(&walker->table_memory, address, value, sizeof *value);
    } else {
        read = (address & 7) == 0 && sfb_memory_read(walker->memory, address, value);
        /* A saved register: an address of code or data, or nothing that a rule would ask for. */
        if (read)
            *value &= SFB_ARCH_CODE_MASK;
    }
    a->memory_refused |= !read;
    return read ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write,
                      void *arg)
{
    struct attempt *a = arg;

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
    /* A return address is looked up, and its function's rules are followed, by the byte before. */
    *value = (a->context->reg[reg] & SFB_ARCH_CODE_MASK) - (reg == SFB_ARCH_PC && a->at_ra);
    return 0;
}

static int search_module(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
                         int need_unwind_info, struct attempt *a)
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
     * It is given the one entry that our own reader has found good: libunwind 1.6.2 takes numbers
     * of registers from any, and indexes arrays with them.
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
    table.u.rti.table_len = 1; /* in words, and an entry is one */
    return sfb_libunwind()->search_unwind_table(space, pc, &table, info, need_unwind_info, a);
}

static int find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
                          int need_unwind_info, void *arg)
{
    struct attempt *a = arg;
    int result = search_module(space, pc, info, need_unwind_info, a);

    if (result != 0)
        a->uncovered = true;
    return result;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
    (void)space; /* libunwind itself gives back what its table search took */
    (void)info;
    (void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *address, void *arg)
{
    (void)space; /* code registered at run time: none that we know of */
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

/* The bits of a return address that are no address. */
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

const unw_accessors_t sfb_libunwind_accessors = {
    .find_proc_info = find_proc_info,
    .put_unwind_info = put_unwind_info,
    .get_dyn_info_list_addr = get_dyn_info_list_addr,
    .access_mem = access_mem,
    .access_reg = access_reg,
    .access_fpreg = access_fpreg,
    .resume = resume,
    .get_proc_name = get_proc_name,
};

const struct sfb_libunwind_later_accessors sfb_libunwind_later_accessors = {
    .get_elf_filename = get_elf_filename,
    .get_proc_ip_range = get_proc_ip_range,
    .ptrauth_insn_mask = ptrauth_insn_mask,
};

/* --- What the walker calls -------------------------------------------------------------------- */

static bool place(struct attempt *a, const struct sfb_context *context, bool at_ra)
{
    a->context = context;
    a->at_ra = at_ra;
    a->register_missing = false;
    a->memory_refused = false;
    a->first_argument_asked = false;
    /* On AArch64 libunwind 1.6.2 takes x0 to x3 from a part of the cursor that it does not set. */
    memset(&a->cursor, 0, sizeof a->cursor);
    return sfb_libunwind()->init_remote(&a->cursor, sfb_libunwind()->space, a) == 0;
}

/* Where the cursor stands; a fresh one on a return address says the byte before it. */
static bool stands_at(struct attempt *a, const struct sfb_regs *regs, bool fresh)
{
    const struct sfb_libunwind *lib = sfb_libunwind();
    unw_word_t pc, sp;

    return lib->get_reg(&a->cursor, UNW_REG_IP, &pc) == 0 &&
           lib->get_reg(&a->cursor, UNW_REG_SP, &sp) == 0 && sp == regs->sp &&
           pc + (fresh && a->at_ra) == regs->pc;
}

/* Takes the cursor from the nearest complete frame to the current one. */
static bool replay(struct attempt *a)
{
    struct sfb_walk *walker = a->walker;
    const struct sfb_libunwind *lib = sfb_libunwind();
    unw_word_t sp, last;

    if (!place(a, walker->anchor, walker->anchor_kind == SFB_FRAME_RA))
        return false;
    if (stands_at(a, &walker->regs, true))
        return true;
    a->uncovered = false;
    if (lib->get_reg(&a->cursor, UNW_REG_SP, &sp) != 0)
        return false;
    do {
        last = sp;
        if (lib->step(&a->cursor) <= 0 || a->uncovered)
            return false;
        if (stands_at(a, &walker->regs, false))
            return true;
        /* libunwind lets the CFA go anywhere: only outwards is a way that ends. */
    } while (lib->get_reg(&a->cursor, UNW_REG_SP, &sp) == 0 && sp > last && sp <= walker->regs.sp);
    return false;
}

/* unw_save_loc_t with room: on AArch64 libunwind 1.8 writes one byte more of it than 1.6 had. */
union save_loc {
    unw_save_loc_t at;
    char room[64];
};

/*
 * The caller's sp is the CFA, unless its rule says otherwise: where longjmp() and setcontext()
 * switch stacks, it is in a register or in the jump buffer. What libunwind makes of such a rule
 * depends on its version (1.6 reads it and goes by the CFA; 1.8 applies it on x86-64 alone), and
 * where it says the register is saved means a place or a value. So the kind of the rule is read
 * here, and libunwind is asked for what belongs to it.
 *
 * @param least  the least sp that is progress; changed where a switch is half done: sp may be the
 *               caller's already
 */
static __attribute__((noinline)) bool find_sp(struct attempt *a, uint64_t *sp, uint64_t *least)
{
    const struct sfb_libunwind *lib = sfb_libunwind();
    struct sfb_walk *walker = a->walker;
    uint64_t pc = sfb_walker_lookup_pc(walker);
    enum sfb_cfi_how how = SFB_CFI_TOO_FAR;
    union save_loc place;

    if (sfb_walker_find_module(walker, pc))
        how = sfb_cfi_how_at(&walker->module->eh_frame, pc, SFB_CFI_SP);
    if (lib->get_save_loc(&a->cursor, SFB_ARCH_SP, &place.at) != 0)
        return false;
    switch (how) {
    case SFB_CFI_UNSET:
    case SFB_CFI_SAME:
    case SFB_CFI_UNDEFINED: return lib->get_reg(&a->cursor, SFB_ARCH_LIBUNWIND_CFA, sp) == 0;
    case SFB_CFI_VAL_OFFSET:
    case SFB_CFI_VAL_EXPRESSION: *sp = place.at.u.addr; return place.at.type == UNW_SLT_MEMORY;
    case SFB_CFI_OFFSET:
    case SFB_CFI_EXPRESSION:
    case SFB_CFI_REGISTER: break;
    case SFB_CFI_TOO_FAR: return false;
    }
    if (place.at.type == UNW_SLT_MEMORY) {
        return (place.at.u.addr & 7) == 0 && sfb_memory_read(walker->memory, place.at.u.addr, sp);
    }
    if (place.at.type != UNW_SLT_REG || place.at.u.regnum < 0 ||
        place.at.u.regnum >= SFB_CONTEXT_REGS || !(a->context->valid >> place.at.u.regnum & 1))
        return false;
    *sp = a->context->reg[place.at.u.regnum];
    /* Once, or a rule that leads back to itself would be followed for ever. */
    if (!walker->sp_stayed)
        *least = walker->regs.sp;
    walker->sp_stayed = true;
    return true;
}

/*
 * Where the return address is stored, 0: nowhere, or in a register. (Not inlined, nor is find_sp(): what
 * they need is not on the stack while libunwind steps.)
 */
static __attribute__((noinline)) uint64_t place_of_ra(struct attempt *a)
{
    union save_loc ra;

    return sfb_libunwind()->get_save_loc(&a->cursor, SFB_ARCH_RA, &ra.at) == 0 &&
                   ra.at.type == UNW_SLT_MEMORY
               ? ra.at.u.addr
               : 0;
}

/*
 * Where a rule says that the return address still is in the link register, libunwind takes what it
 * last knew of that register, and in an outer frame this is where an inner one stored it.
 */
static bool ra_is_stale(struct attempt *a)
{
    uint64_t place;

    if (!SFB_ARCH_LR || a->walker->regs.lr_known)
        return false;
    place = place_of_ra(a);
    return place != 0 && place < a->walker->regs.sp;
}

/* Steps the cursor where it stands and says what came of it. */
static enum sfb_status step(struct attempt *a, struct sfb_regs *out)
{
    struct sfb_walk *walker = a->walker;
    const struct sfb_libunwind *lib = sfb_libunwind();
    unw_cursor_t *cursor = &a->cursor;
    uint64_t least = walker->regs.sp + !walker->regs.lr_known; /* or nothing is pushed yet */
    int result;

    a->register_missing = false;
    a->memory_refused = false;
    a->uncovered = false;
    a->first_argument_asked = false;
    result = lib->step(cursor);
    /*
     * Where it finds no table libunwind guesses (a frame-pointer chain, a PLT stub by its bytes),
     * which is not for it to do here: what it says then is not asked for.
     */
    if (a->uncovered) {
        return walker->module ? SFB_NO_CFI : SFB_NO_MODULE;
    }
    if (result < 0) {
        if (a->register_missing)
            return SFB_NO_REGISTER;
        if (result == -UNW_EINVAL)
            return a->memory_refused ? SFB_UNREADABLE : SFB_BAD_CFI;
        return SFB_UNWINDER_ERROR;
    }
    if (lib->get_reg(cursor, UNW_REG_IP, &out->pc) != 0 ||
        lib->get_reg(cursor, SFB_ARCH_FP, &out->fp) != 0) {
        return SFB_UNREADABLE;
    }
    out->pc &= SFB_ARCH_CODE_MASK;
    out->lr = 0;
    out->lr_known = false;
    if (SFB_ARCH_SETCONTEXT_CFI_IS_WRONG && a->first_argument_asked)
        return SFB_BAD_CFI;
    if (!find_sp(a, &out->sp, &least) || ra_is_stale(a))
        return SFB_NO_REGISTER;
    /* Not by the result: libunwind 1.8 takes any fp of 0 for the end on AArch64. */
    if (out->pc != 0)
        return out->sp >= least ? SFB_OK : SFB_NO_PROGRESS;
    /* No caller: its return address has no place, or it has one and zero stands there. */
    return place_of_ra(a) != 0 ? SFB_ZERO_RA : SFB_END;
}

static enum sfb_status try_step(struct attempt *a, struct sfb_regs *out)
{
    struct sfb_walk *walker = a->walker;
    enum sfb_status status = SFB_NO_REGISTER;
    bool at_ra = walker->current.kind == SFB_FRAME_RA;

    if (sfb_walker_is_at_anchor(walker)) {
        if (place(a, walker->anchor, at_ra))
            return step(a, out);
    } else {
        sfb_arch_context(&a->quick, &walker->regs);
        if (place(a, &a->quick, at_ra))
            status = step(a, out);
    }
    if (status == SFB_NO_REGISTER && replay(a))
        status = step(a, out);
    return status;
}

/* In a frame of its own, whose size only those pay who come here. */
static __attribute__((noinline)) enum sfb_status attempt_step(struct sfb_walk *walker)
{
    struct attempt a = { .walker = walker };
    struct sfb_regs out;
    enum sfb_status status = try_step(&a, &out);

    if (sfb_libunwind_is_unknown())
        return SFB_NO_LIBUNWIND;
    if (status == SFB_OK)
        walker->regs = out;
    return status;
}

enum sfb_status sfb_libunwind_step(struct sfb_walk *walker)
{
    int saved_errno = errno;
    enum sfb_status status;

    if ((walker->flags & SFB_WALKER_NO_LIBUNWIND) || !sfb_libunwind() || sfb_libunwind_is_unknown())
        return SFB_NO_LIBUNWIND;
    /*
     * Where our own reader finds a fault in the table there is nothing to be had: libunwind
     * believes tables, and takes seconds, and memory, over some that are damaged.
     */
    status = (enum sfb_status)walker->current.missed[SFB_SOURCE_EH_FRAME];
    if (status != SFB_NOT_EXPRESSIBLE)
        return status == SFB_OK ? SFB_NO_CFI : status; /* OK: it was not asked */
    if (walker->sp_lost)
        return SFB_NO_SP; /* nearly all its rules count from there */
    status = attempt_step(walker);
    errno = saved_errno;
    return status;
}
