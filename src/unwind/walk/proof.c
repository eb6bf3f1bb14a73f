#include "unwind/walk/proof.h"

#include "base/memory.h"
#include "unwind/machine/go.h"
#include "unwind/machine/insn_patterns.h"
#include "unwind/walk/position.h"

/*
 * Tells whether a word can be a return address: behind a call. Or anywhere near code that was made at run
 * time: interpreters return to places without a call before them.
 */
static bool can_be_return(struct sfb_walk *w, uint64_t word)
{
    enum { PROBE_WORK = 32 };
    const uint64_t near = (uint64_t)1 << 27, lowest = 1 << 16;
    uint64_t address = word & SFB_ARCH_CODE_MASK;

    if (address < lowest || address >> SFB_ARCH_PC_BITS != 0 ||
        address - w->memory->lo < w->memory->hi - w->memory->lo)
        return false;
    if (w->current.missed[SFB_SOURCE_EH_FRAME] == SFB_NO_MODULE &&
        address - w->regs.pc + near < 2 * near)
        return true;
    return !sfb_walker_spend(w, PROBE_WORK) || sfb_arch_is_call(&w->table_memory, address);
}

bool sfb_can_hide_frame(struct sfb_walk *w, uint64_t record)
{
    enum { SPAN_MAX = 4096 };
    uint64_t word;

    if (record - w->regs.sp > SPAN_MAX)
        return true;
    for (uint64_t at = w->regs.sp; at < record; at += sizeof word)
        if (!sfb_memory_read(w->memory, at, &word) || can_be_return(w, word))
            return true;
    return false;
}

bool sfb_stores_record(struct sfb_walk *w, uint64_t record)
{
    enum { SEARCH_WORK = 1024 };

    return sfb_walker_spend(w, SEARCH_WORK) &&
           sfb_arch_stores_record(&w->table_memory, w->regs.pc, w->current.kind,
                                  record - w->regs.sp);
}
