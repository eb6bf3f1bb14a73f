/* Habits of compilers and assembly that look like a wrong row and are correct. */
#include "toolchain/check/code_habits.h"

/* Instructions between the guard of a jump table and its jump. */
enum { GUARD_MAX = 6 };

/* Instructions between the restore of fp and a return. */
enum { EPILOGUE_MAX = 12 };

/* Instructions that LLVM moves behind the one that frees the stack. */
enum { LATE_MAX = 3 };

/* Instructions of inline assembly that move sp and restore it. */
enum { BRIEF_MAX = 8 };

/*
 * AArch64: whether a row counts from fp after fp was restored before a return. gcc changes the row
 * only where sp moves, too.
 */
bool code_is_epilogue(const struct code_function *u, size_t at, const struct frame_state *s,
                      const struct sfb_rule *r)
{
    const struct machine *m = &u->cc->machine;

    if (m->lr == INSN_NO_REGISTER || r->cfa_base != SFB_BASE_FP ||
        s->reg[m->fp].kind != VALUE_ENTRY || s->reg[m->fp].reg != m->fp ||
        r->fp.where != SFB_WHERE_CFA || r->fp.offset != -r->cfa_offset ||
        state_slot(s, r->fp.offset).kind != VALUE_ENTRY)
        return false;
    for (size_t i = at; i < u->insn_count && i <= at + EPILOGUE_MAX; i++) {
        const struct insn *n = &u->insns[i];

        if (n->flow == FLOW_RETURN || n->flow == FLOW_AWAY || n->flow == FLOW_JUMP)
            return true;
        if (n->flow != FLOW_ON || (n->what == WHAT_SET && n->reg[0] == m->fp))
            return false;
    }
    return false;
}

/*
 * Whether the row was right until now, and is again a few instructions later: inline assembly that
 * pushes and pops without directives.
 */
bool code_is_brief(const struct code_function *u, size_t at, const struct frame_state *s,
                   const struct code_row *row)
{
    struct frame_state next = *s;

    for (size_t i = at; i + 1 < u->insn_count && i < at + BRIEF_MAX; i++) {
        if (u->insns[i].flow != FLOW_ON || (u->marks[i] & MARK_HOLE) != 0 ||
            (u->marks[i + 1] & MARK_LEADER) != 0 || code_row_at(u, u->insns[i + 1].address) != row)
            return false;
        state_apply(&next, &u->cc->machine, &u->insns[i]);
        if (code_difference(&next, &u->cc->machine, &row->rule) != CODE_INSN_CFA)
            return true;
    }
    return false;
}

/* Whether the stack was freed a few instructions ago, where the row held, too. */
static bool has_just_freed(const struct code_function *u, size_t at, const struct code_row *row)
{
    const uint8_t sp = u->cc->machine.sp;

    for (size_t back = 1; back <= at && back < LATE_MAX; back++) {
        const struct insn *i = &u->insns[at - back];

        if ((u->marks[at - back + 1] & MARK_LEADER) != 0 || code_row_at(u, i->address) != row)
            return false;
        if (i->what == WHAT_SET && i->reg[0] == sp && i->base == sp)
            return i->amount > 0;
    }
    return false;
}

/*
 * LLVM up to 14 moves the instruction that frees the stack in front of others, such as compares, and
 * its row stays where it was. Nothing else moves sp until then.
 */
bool code_is_late(const struct code_function *u, size_t at, const struct frame_state *s,
                  const struct code_row *row)
{
    struct frame_state next = *s;

    if (!has_just_freed(u, at, row))
        return false;
    for (size_t i = at; i + 1 < u->insn_count && i < at + LATE_MAX; i++) {
        const struct code_row *then = code_row_at(u, u->insns[i + 1].address);
        int64_t before, after;

        if ((u->insns[i].flow != FLOW_ON && u->insns[i].flow != FLOW_BRANCH) ||
            (u->marks[i] & MARK_HOLE) != 0 || (u->marks[i + 1] & MARK_LEADER) != 0 ||
            !state_height(&next, u->cc->machine.sp, &before))
            return false;
        state_apply(&next, &u->cc->machine, &u->insns[i]);
        if (!state_height(&next, u->cc->machine.sp, &after) || after != before)
            return false;
        if (then != row)
            return then && then->usable &&
                   code_difference(&next, &u->cc->machine, &then->rule) != CODE_INSN_CFA;
    }
    return false;
}

bool code_is_last_entry(const struct code_function *u, size_t at)
{
    return u->repeat != 0 && u->end - u->start > u->repeat &&
           u->insns[at].address >= u->end - u->repeat;
}

/* Whether the code pops more than its own frame, or returns with a byte count. */
bool code_plays_tricks(const struct code_function *u, size_t at, const struct frame_state *s)
{
    const struct machine *m = &u->cc->machine;
    const struct insn *i = &u->insns[at];
    int64_t height;

    if (s->anchored && state_height(s, m->sp, &height) && height < m->entry)
        return true;
    return i->what == WHAT_ADD && i->reg[0] == m->sp && at + 1 < u->insn_count &&
           i[1].flow == FLOW_RETURN;
}

/*
 * Whether a branch guards a jump table. If no value lies outside of the table, compilers let the
 * branch lead anywhere.
 */
bool code_guards_table(const struct code_function *u, size_t at)
{
    if (u->insns[at].flow != FLOW_BRANCH)
        return false;
    for (size_t i = at + 1; i < u->insn_count && i <= at + GUARD_MAX; i++) {
        if (u->insns[i].flow == FLOW_AWAY)
            return true;
        if (u->insns[i].flow != FLOW_ON)
            break;
    }
    return false;
}

/* Records where fp is saved. */
void code_note_save(struct code_function *u, const struct insn *i, const struct frame_state *s)
{
    const struct machine *m = &u->cc->machine;

    if (u->telling || s->forgot || i->what != WHAT_STORE)
        return;
    for (unsigned k = 0; k < s->slots; k++) {
        const struct slot *slot = &s->slot[k];
        unsigned n = 0;

        while (n < u->saves && u->save[n] != slot->at)
            n++;
        if (slot->value.kind == VALUE_ENTRY && slot->value.reg == m->fp && n == u->saves &&
            n < CODE_SAVES)
            u->save[u->saves++] = slot->at;
    }
}

/*
 * Code without a known frame has the frame of the rest of the function: fp is where the prologue
 * saved it.
 */
bool code_is_saved_elsewhere(const struct code_function *u, const struct frame_state *s,
                             const struct sfb_rule *r)
{
    if (!s->forgot || u->saves == 0 || u->saves == CODE_SAVES || r->fp.where != SFB_WHERE_CFA)
        return false;
    for (unsigned n = 0; n < u->saves; n++)
        if (u->save[n] == r->fp.offset)
            return false;
    return true;
}
