/*
 * One step by libunwind, for frames with rows that our rules cannot state.
 *
 * libunwind's usual interface is not safe in a signal handler: to find a table it takes the loader's
 * lock, to check a pointer it opens a pipe. Here it unwinds as if in another process: all its reads go
 * through the functions of libunwind_access.c, by the walk's modules and memory. What remains: two pool
 * allocations a step from static memory, under an internal mutex with all signals blocked.
 *
 * It must start from true registers. The walk tracks only pc, sp and fp, which suffices for most frames
 * (the quick start). If a rule needs another register (rbx in the lazy binding of ld.so, r10 in frames
 * that realign their stack), libunwind walks again from the anchor to the same frame (the replay).
 *
 * The cursor is made anew for each step. So its kilobyte (two on AArch64) is on the stack only while
 * libunwind runs, and not in every walker. Steps are rare, and so rarely adjacent that keeping the
 * cursor would save nothing.
 */
#include "unwind/walk/source_libunwind.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "eh_frame/rule.h"
#include "unwind/machine/arch.h"
#include "unwind/walk/libunwind_access.h"
#include "unwind/walk/position.h"
#include "unwind/walk/step.h"

static bool place(struct sfb_libunwind_attempt *a, const struct sfb_context *context, bool at_ra)
{
    const struct sfb_libunwind *lib = a->walker->modules->libunwind;

    a->context = context;
    a->at_ra = at_ra;
    a->register_missing = false;
    a->memory_refused = false;
    a->first_argument_asked = false;
    /* On AArch64 libunwind 1.6.2 reads x0 to x3 from a part of the cursor that it does not set. */
    memset(&a->cursor, 0, sizeof a->cursor);
    return lib->init_remote(&a->cursor, lib->space, a) == 0;
}

/* Tells whether the cursor is on the frame of regs. A fresh cursor on a return address gives the byte before it. */
static bool stands_at(struct sfb_libunwind_attempt *a, const struct sfb_regs *regs, bool fresh)
{
    const struct sfb_libunwind *lib = a->walker->modules->libunwind;
    unw_word_t pc, sp;

    return lib->get_reg(&a->cursor, UNW_REG_IP, &pc) == 0 &&
           lib->get_reg(&a->cursor, UNW_REG_SP, &sp) == 0 && sp == regs->sp &&
           pc + (fresh && a->at_ra) == regs->pc;
}

/* Takes the cursor from the anchor to the current frame. */
static bool replay(struct sfb_libunwind_attempt *a)
{
    struct sfb_walk *walker = a->walker;
    const struct sfb_libunwind *lib = a->walker->modules->libunwind;
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
        /* libunwind accepts any CFA. Only steps outwards are sure to end. */
    } while (lib->get_reg(&a->cursor, UNW_REG_SP, &sp) == 0 && sp > last && sp <= walker->regs.sp);
    return false;
}

/* unw_save_loc_t with room: on AArch64 libunwind 1.8 writes one byte more than 1.6 has. */
union save_loc {
    unw_save_loc_t at;
    char room[64];
};

/*
 * The caller's sp is the CFA, unless a rule for sp states otherwise: where longjmp() and setcontext()
 * switch stacks, sp is in a register or in the jump buffer. libunwind's handling of such a rule depends
 * on its version: 1.6 reads the rule but uses the CFA; 1.8 applies it on x86-64 only. And its save
 * location may be an address or a value. So the kind of the rule is read here, and the matching value is
 * taken from libunwind.
 *
 * @param least  smallest sp that is progress; changed if a stack switch is half done: sp may already be
 *               the caller's
 */
static __attribute__((noinline)) bool find_sp(struct sfb_libunwind_attempt *a, uint64_t *sp,
                                              uint64_t *least)
{
    const struct sfb_libunwind *lib = a->walker->modules->libunwind;
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
    /* Not twice in a row: a rule that leads back to itself would never end. */
    if (!walker->regs.sp_stayed)
        *least = walker->regs.sp;
    return true;
}

/*
 * @return address of the stored return address; 0: not stored, or in a register. (Not inlined, as
 * find_sp(): their stack is free while libunwind steps.)
 */
static __attribute__((noinline)) uint64_t place_of_ra(struct sfb_libunwind_attempt *a)
{
    union save_loc ra;

    return a->walker->modules->libunwind->get_save_loc(&a->cursor, SFB_ARCH_RA, &ra.at) == 0 &&
                   ra.at.type == UNW_SLT_MEMORY
               ? ra.at.u.addr
               : 0;
}

/*
 * Tells whether libunwind's return address is stale. If a rule states that it is still in the link
 * register, libunwind uses the last known place of that register. In an outer frame this is where an
 * inner frame stored it.
 */
static bool ra_is_stale(struct sfb_libunwind_attempt *a)
{
    uint64_t place;

    if (!SFB_ARCH_LR || a->walker->regs.lr_known)
        return false;
    place = place_of_ra(a);
    return place != 0 && place < a->walker->regs.sp;
}

/* Steps the cursor, and checks the result. */
static enum sfb_status step(struct sfb_libunwind_attempt *a, struct sfb_regs *out)
{
    struct sfb_walk *walker = a->walker;
    const struct sfb_libunwind *lib = a->walker->modules->libunwind;
    unw_cursor_t *cursor = &a->cursor;
    uint64_t least =
        walker->regs.sp + !walker->regs.lr_known; /* lr known: perhaps nothing is pushed yet */
    int result;

    a->register_missing = false;
    a->memory_refused = false;
    a->uncovered = false;
    a->first_argument_asked = false;
    result = lib->step(cursor);
    /*
     * Without a table libunwind guesses: by frame pointers, or a PLT stub by its bytes. Its guesses
     * are not used here.
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
    /* The result does not tell the end: libunwind 1.8 takes any fp of 0 for it on AArch64. */
    out->sp_stayed = out->sp == walker->regs.sp;
    if (out->pc != 0)
        return out->sp >= least ? SFB_OK : SFB_NO_PROGRESS;
    /* No caller: the return address is not stored, or is a stored zero. */
    return place_of_ra(a) != 0 ? SFB_ZERO_RA : SFB_END;
}

static enum sfb_status try_step(struct sfb_libunwind_attempt *a, struct sfb_regs *out)
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

/* Not inlined: only walks that come here pay for its large stack frame. */
static __attribute__((noinline)) enum sfb_status attempt_step(struct sfb_walk *walker)
{
    struct sfb_libunwind_attempt a = { .walker = walker };
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

    if ((walker->flags & SFB_WALKER_NO_LIBUNWIND) ||
        !__atomic_load_n(&walker->modules->libunwind, __ATOMIC_ACQUIRE) ||
        sfb_libunwind_is_unknown())
        return SFB_NO_LIBUNWIND;
    /*
     * If our own reader finds a fault in the table, libunwind is not tried: it trusts tables, and
     * spends seconds and memory on some damaged ones.
     */
    status = (enum sfb_status)walker->current.missed[SFB_SOURCE_EH_FRAME];
    if (status != SFB_NOT_EXPRESSIBLE)
        return status == SFB_OK ? SFB_NO_CFI : status; /* OK: .eh_frame was not tried */
    if (walker->sp_lost)
        return SFB_NO_SP; /* nearly all its rules are based on sp */
    status = attempt_step(walker);
    errno = saved_errno;
    return status;
}
