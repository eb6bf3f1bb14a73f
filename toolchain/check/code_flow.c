/*
 * Control flow of a function: the frame's state is carried from the first instruction to all
 * successors, and compared with the row at each.
 *
 * Code without a known predecessor (targets of jump tables, landing pads) begins with its row's
 * state. From there on the code decides, so rows are compared with each other. The code behind a
 * call is followed if it fits the row there: otherwise the callee does not return.
 */
#include <stdlib.h>

#include "toolchain/check/code_habits.h"

/* Values only become unknown. A place with more changes keeps sp and fp only. */
enum { CHANGES_MAX = 7 };

/* Of one function: further join points are skipped. */
enum { STATES_MAX = 1 << 16 };
static const char *const at_return = "the code returns there";

/* The register that the row's CFA counts from. */
static uint8_t base_register(const struct machine *m, const struct sfb_rule *r)
{
    return r->cfa_base == SFB_BASE_SP ? m->sp : r->cfa_base == SFB_BASE_FP ? m->fp : r->cfa_reg;
}

/*
 * Whether two paths bring different frames to a place where the row counts from sp: one of the paths
 * is wrong, or the row is. Where another register holds the CFA, sp may have any distance: in loops
 * that probe the stack, and behind alloca().
 */
static bool contradicts(const struct code_function *u, size_t at, const struct frame_state *held,
                        const struct frame_state *s)
{
    const struct machine *m = &u->cc->machine;
    const struct code_row *row = code_row_at(u, u->insns[at].address);
    int64_t a, b;

    if (row && row->usable &&
        ((row->rule.flags & SFB_RULE_CFA_DEREF) != 0 || base_register(m, &row->rule) != m->sp))
        return false;
    return state_height(held, m->sp, &a) && state_height(s, m->sp, &b) && a != b;
}

/* @return false: no memory */
static bool arrive(struct code_function *u, size_t at, const struct frame_state *s)
{
    struct frame_state **held = &u->states[at];

    if (!*held && u->state_count == STATES_MAX) {
        u->gaps[GAP_LARGE] = true;
        return true;
    }
    if (!*held) {
        u->state_count++;
        *held = malloc(sizeof **held);
        if (!*held)
            return false;
        **held = *s;
    } else {
        if (contradicts(u, at, *held, s)) {
            u->gaps[GAP_HEIGHT] |= u->cc->blind;
            return true;
        }
        if (!state_meet(*held, s))
            return true;
        if (u->marks[at] >> 5 == CHANGES_MAX)
            state_forget(*held, &u->cc->machine);
        else
            u->marks[at] = (uint8_t)(u->marks[at] + MARK_AGAIN);
    }
    if ((u->marks[at] & MARK_QUEUED) == 0) {
        u->marks[at] |= MARK_QUEUED;
        u->queue[u->queued++] = at;
    }
    return true;
}

/* Whether a row begins right behind a change of a register. */
static bool begins_with(const struct code_function *u, size_t at, const struct code_row *row,
                        uint8_t reg)
{
    const struct insn *before = at > 0 ? &u->insns[at - 1] : NULL;
    const uint64_t pc = u->insns[at].address;
    const uint64_t offset = u->repeat ? (pc - u->start) % u->repeat : pc - u->start;

    return before && row->start == offset &&
           ((before->kills >> reg & 1) != 0 || before->what == WHAT_SWAP ||
            (before->reg[0] == reg && before->what != WHAT_STORE));
}

/*
 * Takes the row's rule for values that the code leaves unknown. That includes the register of a row
 * that begins where this register became untracked.
 */
static void adopt(struct code_function *u, size_t at, struct frame_state *s,
                  const struct code_row *row)
{
    const struct machine *m = &u->cc->machine;
    const struct sfb_rule *r = &row->rule;
    const uint8_t base = base_register(m, r);

    if ((r->flags & SFB_RULE_CFA_DEREF) != 0 || base >= INSN_REGISTERS ||
        s->reg[base].kind == VALUE_CFA ||
        (s->reg[base].kind != VALUE_UNKNOWN && base != m->sp &&
         !(s->reg[base].kind == VALUE_OTHER && begins_with(u, at, row, base))))
        return;
    u->gaps[GAP_HEIGHT] = true;
    if (s->switched)
        return;
    s->reg[base] = (struct value){ -(int64_t)r->cfa_offset, VALUE_CFA, 0 };
    s->anchored = false;
    s->forgot |= base != m->sp;
}

/* Compares the state at an instruction with its row. @param fine  the row that matched before it */
static void judge(struct code_function *u, size_t at, struct frame_state *s,
                  const struct code_row **fine)
{
    const struct insn *i = &u->insns[at];
    struct code_row *row = code_row_at(u, i->address);
    unsigned code;

    if (code_plays_tricks(u, at, s))
        u->tricks = u->gaps[GAP_TRICK] = true;

    if (!row || !row->usable)
        return;
    adopt(u, at, s, row);
    code = code_difference(s, &u->cc->machine, &row->rule);
    if (code == 0 && code_is_saved_elsewhere(u, s, &row->rule))
        code = CODE_INSN_FP;
    if (code != CODE_INSN_CFA)
        *fine = row;
    if (code == 0)
        return;
    if (u->telling) {
        if (code == CODE_INSN_CFA &&
            (code_is_epilogue(u, at, s, &row->rule) || code_is_last_entry(u, at) ||
             (*fine == row && (code_is_brief(u, at, s, row) || code_is_late(u, at, s, row)))))
            code = CODE_INSN_BRIEF;
        code_note(u, (enum check_code)code, row, i->address, s, NULL);
    }
    if (!s->anchored && code == CODE_INSN_CFA)
        state_from_row(s, &u->cc->machine, &row->rule);
}

/* At a return the CFA must be where it was at the entry. */
static void judge_return(struct code_function *u, const struct insn *i, const struct frame_state *s)
{
    const struct machine *m = &u->cc->machine;
    struct code_row *row = code_row_at(u, i->address);
    int64_t height;

    if (row && row->outermost && u->telling && !s->switched &&
        (!state_height(s, m->sp, &height) || height == m->entry))
        code_note(u, CODE_INSN_OUTERMOST, row, i->address, s, at_return);
    if (!row || !row->usable || (row->rule.flags & SFB_RULE_CFA_DEREF) != 0)
        return;
    if (!state_height(s, m->sp, &height) || height == m->entry)
        return;
    if (s->anchored)
        u->tricks = u->gaps[GAP_TRICK] = true;
    else if (u->telling)
        code_note(u, CODE_INSN_RETURN, row, i->address, s, at_return);
}

/* Whether the state fits the row at a successor. */
static bool fits(struct code_function *u, size_t at, const struct frame_state *s)
{
    const struct code_row *row = code_row_at(u, u->insns[at].address);
    const unsigned code = row && row->usable ? code_difference(s, &u->cc->machine, &row->rule) : 0;

    return code == 0 || code == CODE_INSN_LOST;
}

/* Where paths join, each must bring the frame of the row. @return true */
static bool meet(struct code_function *u, size_t from, size_t at, const struct frame_state *s)
{
    struct code_row *row = code_row_at(u, u->insns[at].address);

    if (row && row->usable && !code_guards_table(u, from) &&
        code_difference(s, &u->cc->machine, &row->rule) == CODE_INSN_CFA)
        code_note(u, CODE_INSN_CFA, row, u->insns[at].address, s, NULL);
    return true;
}

/*
 * sp in the states behind a branch that a comparison of sp with a register precedes.
 *
 * @return false: they differ, so this state does not go there: a loop that probes the stack, in its first turn
 */
static bool equate(const struct code_function *u, size_t at, enum insn_equal where,
                   struct frame_state *s)
{
    if (u->insns[at].equal == where && at > 0 && u->insns[at - 1].what == WHAT_COMPARE &&
        (u->marks[at] & MARK_LEADER) == 0 && (u->marks[at - 1] & MARK_HOLE) == 0)
        return state_equate(s, &u->cc->machine, &u->insns[at - 1]);
    return true;
}

/* Whether only a call leads to a jump: if it does not return, compilers let the jump lead anywhere. */
static bool is_behind_call(const struct code_function *u, size_t at)
{
    return u->insns[at].flow == FLOW_JUMP && at > 0 && u->insns[at - 1].flow == FLOW_CALL &&
           (u->marks[at] & MARK_LEADER) == 0 && (u->marks[at - 1] & MARK_HOLE) == 0;
}

/* Follows a jump. @return false: no memory */
static bool jump(struct code_function *u, size_t at, const struct frame_state *s)
{
    const struct insn *i = &u->insns[at];
    const size_t target = code_insn_at(u, i->target);

    if (target < u->insn_count && u->telling)
        return meet(u, at, target, s);
    if (target < u->insn_count)
        return (code_guards_table(u, at) && !fits(u, target, s)) || arrive(u, target, s);
    if (u->telling && (i->target < u->start || i->target >= u->end) && !code_guards_table(u, at) &&
        !is_behind_call(u, at))
        code_edge(u, i, s);
    return true;
}

enum outcome { GOES_ON, ENDS, NO_MEMORY };

/* Follows an instruction to other successors than the next one. */
static enum outcome lead(struct code_function *u, size_t at, const struct frame_state *s)
{
    const struct insn *i = &u->insns[at];
    struct frame_state target;

    switch ((enum insn_flow)i->flow) {
    case FLOW_ON:
    case FLOW_MAYBE: break;
    case FLOW_BRANCH:
        target = *s;
        if (!equate(u, at, EQUAL_TARGET, &target))
            return GOES_ON;
        return !i->has_target || jump(u, at, &target) ? GOES_ON : NO_MEMORY;
    case FLOW_JUMP: return jump(u, at, s) ? ENDS : NO_MEMORY;
    case FLOW_CALL:
        if (u->telling && i->has_target)
            code_edge(u, i, s);
        if (u->telling)
            code_call_outermost(u, at);
        break;
    case FLOW_RETURN: judge_return(u, i, s); return ENDS;
    case FLOW_AWAY: return ENDS;
    }
    return GOES_ON;
}

/* Follows instructions up to a branch or join. @return false: no memory */
static bool run(struct code_function *u, size_t at)
{
    struct frame_state s = *u->states[at];
    const struct code_row *fine = NULL;

    for (bool first = true, doubt = false;; first = false, at++) {
        const struct insn *i = &u->insns[at];
        enum outcome outcome;

        if (!first && (u->marks[at] & MARK_LEADER))
            return u->telling ? meet(u, at - 1, at, &s) : arrive(u, at, &s);
        u->marks[at] |= MARK_VISITED;
        judge(u, at, &s, &fine);
        state_apply(&s, &u->cc->machine, i);
        code_note_save(u, i, &s);
        outcome = lead(u, at, &s);
        if (outcome != GOES_ON)
            return outcome == ENDS;
        if (!equate(u, at, EQUAL_ON, &s))
            return true;
        if (u->telling && at + 1 == u->insn_count)
            code_judge_end(u, i, &s);
        if ((u->marks[at] & MARK_HOLE) || at + 1 == u->insn_count)
            return true;
        /*
         * No-ops may lie between a call that does not return and the next block. One lies in front
         * of a landing pad that cannot be at the start of its table.
         */
        doubt = i->flow == FLOW_CALL || i->flow == FLOW_MAYBE || ((doubt || at == 0) && i->padding);
        if (doubt && !fits(u, at + 1, &s))
            return true;
    }
}

static bool run_all(struct code_function *u)
{
    while (u->queued > 0) {
        const size_t at = u->queue[--u->queued];

        u->marks[at] &= (uint8_t)~MARK_QUEUED;
        if (!run(u, at))
            return false;
    }
    return true;
}

/* The entry: with the frame of a call, or with its row's. */
static bool enter(struct code_function *u, size_t at)
{
    const struct machine *m = &u->cc->machine;
    const struct code_row *row = code_row_at(u, u->insns[at].address);
    struct frame_state s;

    state_enter(&s, m);
    /* The second piece of a split function: the frame exists already. */
    if (row && row->usable &&
        (row->rule.cfa_base != SFB_BASE_SP || row->rule.cfa_offset != m->entry ||
         row->rule.fp.where != SFB_WHERE_UNSAVED ||
         (m->lr != INSN_NO_REGISTER && row->rule.ra.where != SFB_WHERE_UNSAVED)))
        state_from_row(&s, m, &row->rule);
    return arrive(u, at, &s);
}

/* Starts at code without a known predecessor. */
static bool begin(struct code_function *u, size_t at)
{
    const struct code_row *row = code_row_at(u, u->insns[at].address);
    struct frame_state s;

    u->gaps[GAP_BLOCK] = true;
    if (row && row->usable)
        state_from_row(&s, &u->cc->machine, &row->rule);
    else
        s = (struct frame_state){ .forgot = true };
    return arrive(u, at, &s);
}

bool code_follow_blindly(struct code_function *u)
{
    const size_t at = code_insn_at(u, u->start);

    return at == u->insn_count || (enter(u, at) && run_all(u));
}

bool code_follow(struct code_function *u)
{
    for (uint64_t pc = u->start; pc < u->end; pc += u->repeat) {
        const size_t at = code_insn_at(u, pc);

        if (at < u->insn_count && !enter(u, at))
            return false;
        if (u->repeat == 0)
            break;
    }
    if (!run_all(u))
        return false;
    for (size_t i = 0; i < u->insn_count; i++) {
        if ((u->marks[i] & MARK_VISITED) != 0 || u->insns[i].padding)
            continue;
        if (!begin(u, i) || !run_all(u))
            return false;
    }
    /* All paths are joined: the remaining states are final. */
    u->telling = true;
    for (size_t i = 0; i < u->insn_count; i++)
        if (u->states[i])
            run(u, i);
    return true;
}
