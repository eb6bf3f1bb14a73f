/* Where rows begin, and functions end: at instructions. */
#include <inttypes.h>

#include "code.h"
#include "object/code_ranges.h"
#include "object/counted.h"
#include "say.h"

/* Instructions behind the end of a function that are looked at, and the longest one. */
enum { OPEN_MAX = 64, INSN_BYTES_MAX = 16 };

/* Whether a pc is within an instruction that was read. */
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

/* Key B, and nothing is signed: no row says so, and no instruction. */
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

/* Where handlers return to the kernel is asked to go on elsewhere. */
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

void code_judge_bounds(struct code_function *u)
{
    const struct insn *last = &u->insns[u->insn_count - 1];

    for (size_t i = 0; i < u->row_count; i++) {
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
    if (insn_end(last) > u->end)
        say_at(u->cc->c, CODE_INSN_END, place_of_entry(u->f.part, u->f.entry, FIELD_SIZE), u->end,
               no_rules, ", %s into one of %u", counted(u->end - last->address, "bytes").text,
               last->size);
}

/* ---- where it goes on behind its end ---- */

/* Whether a pc lies behind the function, and no other one in between. */
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
 * A row could say where the caller's frame is: sp is a known way from it. If a register has just got a
 * place in the frame, it may be what no row counts from, and sfb synth leaves such code out. A branch
 * where nothing was pushed may lead to another function, which has no rows.
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
 * Whether sp comes from elsewhere in the code there, or it cannot be read: rows cannot say where the
 * frame is, in a context that is restored or behind a stack that was aligned, and there is none.
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
