/* Rows begin, and functions end, between instructions. */
#include <inttypes.h>

#include "symbols/code_ranges.h"
#include "toolchain/check/code.h"
#include "toolchain/check/say.h"
#include "util/counted.h"

/* Bytes that are no code may make so many instructions. */
enum { STEPS_BACK = 3 };

/* Instructions examined behind the end of a function, and the longest one. */
enum { OPEN_MAX = 64, INSN_BYTES_MAX = 16 };

/* The decoded instruction that contains a pc; NULL: none. */
static const struct insn *around(const struct code_function *u, uint64_t pc)
{
    size_t low = 0, high = u->insn_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (u->insns[middle].address < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && insn_end(&u->insns[low - 1]) > pc &&
                   (low == u->insn_count || u->insns[low].address != pc)
               ? &u->insns[low - 1]
               : NULL;
}

/* Key B without any signing: no row and no instruction signs. */
static void judge_key(struct code_function *u)
{
    bool is_signed = false;

    for (size_t i = 0; i < u->row_count; i++)
        is_signed |= (u->rows[i].rule.flags & SFB_RULE_RA_SIGNED) != 0;
    for (size_t i = 0; i < u->insn_count; i++)
        is_signed |= u->insns[i].what == WHAT_SIGN;
    if ((u->f.entry->info & FUNCTION_KEY_B) != 0 && u->cc->machine.word == 0 && !is_signed)
        say_at(u->cc->c, CODE_INSN_KEY, place_of_entry(u->f.part, u->f.entry, FIELD_INFO), u->start,
               no_rules, "%s", "");
}

/* A signal trampoline must have a system call, and no return. */
static void judge_signal(struct code_function *u)
{
    bool returns = false, enters = false;

    if (!u->f.part->version->has_attribute || (u->f.entry->info & FUNCTION_SIGNAL) == 0)
        return;
    for (size_t i = 0; i < u->insn_count; i++) {
        returns |= u->insns[i].flow == FLOW_RETURN;
        enters |= u->insns[i].enters;
    }
    if (returns && !enters)
        say_at(u->cc->c, CODE_INSN_SIGNAL, place_of_entry(u->f.part, u->f.entry, FIELD_INFO),
               u->start, no_rules, "%s", "");
}

/*
 * Whether bytes that are no code, behind a call that does not return or a jump, put the instructions out of step: the code
 * behind them is jumped to.
 */
static bool is_out_of_step(const struct code_function *u)
{
    for (size_t i = 0; i < u->insn_count; i++) {
        const struct insn *in =
            u->insns[i].has_target && u->insns[i].target > u->start && u->insns[i].target < u->end
                ? around(u, u->insns[i].target)
                : NULL;

        for (size_t k = 1; in && k <= STEPS_BACK && in - u->insns >= (ptrdiff_t)k; k++)
            if (in[-(ptrdiff_t)k].flow != FLOW_ON && in[-(ptrdiff_t)k].flow != FLOW_BRANCH)
                return true;
    }
    return false;
}

void code_judge_bounds(struct code_function *u)
{
    const struct insn *last = &u->insns[u->insn_count - 1];
    const bool in_step = !is_out_of_step(u);

    for (size_t i = 0; in_step && i < u->row_count; i++) {
        const struct code_row *row = &u->rows[i];
        const struct insn *in = around(u, u->start + row->start);

        if (in && u->start + row->start < u->end)
            say_at(u->cc->c, CODE_INSN_ROW,
                   place_of_row(u->f.part, u->f.entry, row->index, row->position),
                   u->start + row->start, no_rules, ", %s into one of %u",
                   counted(u->start + row->start - in->address, "bytes").text, in->size);
    }
    judge_key(u);
    judge_signal(u);
    if (in_step && insn_end(last) > u->end)
        say_at(u->cc->c, CODE_INSN_END, place_of_entry(u->f.part, u->f.entry, FIELD_SIZE), u->end,
               no_rules, ", %s into one of %u", counted(u->end - last->address, "bytes").text,
               last->size);
}

/* ---- control behind the end ---- */

/* Whether a pc lies behind the function, with no other function in between. */
static bool is_behind(const struct code_function *u, uint64_t pc)
{
    const struct code_check *cc = u->cc;
    size_t low = 0, high = cc->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (cc->all[middle].entry->start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return pc >= u->end && low > 0 && cc->all[low - 1].entry == u->f.entry &&
           object_is_code(cc->c->object, u->start, pc + 1);
}

/*
 * Whether a row could state the caller's frame: sp has a known distance. If a register has just got
 * a frame address, the CFA may count from it, and sfb synth leaves such code out. A branch before
 * any push may lead to another function, without rows.
 */
static bool has_rule(const struct code_function *u, const struct insn *i,
                     const struct frame_state *s)
{
    const struct machine *m = &u->cc->machine;
    int64_t height;

    if (!state_height(s, m->sp, &height) || s->switched ||
        (i->flow != FLOW_ON && height == m->entry))
        return false;
    return i->what != WHAT_SET || i->reg[0] == m->sp || i->reg[0] == m->fp ||
           i->reg[0] >= INSN_REGISTERS || s->reg[i->reg[0]].kind != VALUE_CFA;
}

/*
 * Whether the code there loads sp, or is unreadable. No row can describe a restored context, or a
 * stack that was aligned, so a missing row is correct.
 */
static bool is_beyond_rows(const struct code_function *u, uint64_t pc)
{
    const struct machine *m = &u->cc->machine;
    struct insn i;

    for (unsigned n = 0; n < OPEN_MAX && !code_function_at(u->cc, pc); n++) {
        const uint8_t *code = NULL;
        uint64_t size = INSN_BYTES_MAX;

        while (size > 0 && !(code = object_code_at(u->cc->c->object, pc, size)))
            size--;
        if (!code || u->cc->code_left == 0 ||
            !decoder_read(u->cc->decoder, &i, code, (size_t)size, pc))
            return true;
        u->cc->code_left--;
        if ((i.kills >> m->sp & 1) != 0 || (i.what == WHAT_ADD && i.reg[0] == m->sp) ||
            (i.what == WHAT_SWAP && (i.reg[0] == m->sp || i.reg[1] == m->sp)) ||
            (i.what == WHAT_LOAD && (i.reg[0] == m->sp || i.reg[1] == m->sp)) ||
            (i.what == WHAT_SET && i.reg[0] == m->sp && i.base != m->sp && i.base != m->fp))
            return true;
        pc = insn_end(&i);
    }
    return false;
}

void code_say_open(struct code_function *u, const struct insn *i, uint64_t to,
                   const struct frame_state *s)
{
    if (u->open || u->repeat != 0 || u->cc->c->object->relocatable || !is_behind(u, to) ||
        !has_rule(u, i, s) || is_beyond_rows(u, to))
        return;
    u->open = true;
    say_at(u->cc->c, CODE_INSN_OPEN, place_of_entry(u->f.part, u->f.entry, FIELD_SIZE), to,
           no_rules, ", from 0x%" PRIx64 "; the function ends at 0x%" PRIx64, i->address, u->end);
}

void code_judge_end(struct code_function *u, const struct insn *last, const struct frame_state *s)
{
    if ((last->flow == FLOW_ON || last->flow == FLOW_BRANCH) && !last->padding &&
        !code_function_at(u->cc, u->end))
        code_say_open(u, last, u->end, s);
}
