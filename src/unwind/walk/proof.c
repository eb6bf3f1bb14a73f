#include "unwind/walk/proof.h"

#include "base/memory.h"
#include "unwind/machine/go.h"
#include "unwind/machine/insn_patterns.h"
#include "unwind/walk/position.h"

/*
 * Pointers to the stack are recognised by their distance from sp, not by [lo, hi) of the walk's memory. That
 * range grows with the walks of a thread, and is empty with a caller's reader. Two walks of one stack would
 * end differently.
 */

/* A signal handler and its walk write below sp: there are neither code nor lasting words. */
#define WRITTEN_BELOW ((uint64_t)32 << 10)

/* An address this near to sp may be of the stack. */
#define NEAR_SP ((uint64_t)1 << 20)

/* An address this near to code that was made at run time may be of that code. */
#define NEAR_MADE_CODE ((uint64_t)1 << 27)

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

/* @return whether an address is rather of the made code around the pc than of the stack around sp */
static bool is_near_made_code(const struct sfb_walk *w, uint64_t address)
{
    const uint64_t from_pc = distance(address, w->regs.pc), from_sp = distance(address, w->regs.sp);

    return w->current.missed[SFB_SOURCE_EH_FRAME] == SFB_NO_MODULE && from_pc < NEAR_MADE_CODE &&
           (from_pc < from_sp || from_sp >= NEAR_SP);
}

/*
 * Tells whether a word can be a return address: behind a call. Or anywhere near code that was made at run
 * time: interpreters return to places without a call before them.
 *
 * @param end  of the frame, if the record is its own
 */
static bool can_be_return(struct sfb_walk *w, uint64_t word, uint64_t end)
{
    enum { PROBE_WORK = 32 };
    const uint64_t lowest = 1 << 16, start = w->regs.sp - WRITTEN_BELOW;
    uint64_t address = word & SFB_ARCH_CODE_MASK;

    if (address < lowest || address >> SFB_ARCH_PC_BITS != 0 || address - start < end - start)
        return false;
    return is_near_made_code(w, address) || !sfb_walker_spend(w, PROBE_WORK) ||
           sfb_arch_is_call(&w->table_memory, address);
}

bool sfb_can_hide_frame(struct sfb_walk *w, uint64_t record)
{
    enum { SPAN_MAX = 4096, RECORD_SIZE = 16 };
    uint64_t word;

    if (record - w->regs.sp > SPAN_MAX)
        return true;
    for (uint64_t at = w->regs.sp; at < record; at += sizeof word)
        if (!sfb_memory_read(w->memory, at, &word) || can_be_return(w, word, record + RECORD_SIZE))
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
