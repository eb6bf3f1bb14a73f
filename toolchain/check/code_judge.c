/* Compares a frame's state with a row. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "toolchain/check/code.h"
#include "toolchain/check/say.h"
#include "toolchain/check/words.h"

/* The value of a callee-saved register by its row. @return false: the row names no tracked place */
static bool find_saved(const struct frame_state *s, uint8_t reg, const struct sfb_saved *saved,
                       struct value *out)
{
    switch (saved->where) {
    case SFB_WHERE_UNSAVED: *out = s->reg[reg]; return true;
    case SFB_WHERE_CFA: *out = state_slot(s, saved->offset); return true;
    case SFB_WHERE_IS_REG:
        if (saved->offset != 0 || saved->reg >= INSN_REGISTERS)
            return false;
        *out = s->reg[saved->reg];
        return true;
    default: return false;
    }
}

static bool is_wrong(const struct frame_state *s, uint8_t reg, const struct sfb_saved *saved)
{
    struct value v;

    return find_saved(s, reg, saved, &v) && v.kind != VALUE_UNKNOWN &&
           (v.kind != VALUE_ENTRY || v.reg != reg);
}

/* Whether the row disagrees about the signature of the return address, or its key. */
static bool is_signed_otherwise(const struct frame_state *s, const struct machine *m,
                                const struct sfb_rule *r)
{
    const int64_t key = (r->flags & SFB_RULE_RA_KEY_B) ? 2 : 1;
    struct value v;

    if (!find_saved(s, m->lr, &r->ra, &v) || v.kind != VALUE_ENTRY)
        return false;
    if (v.amount == 0)
        return (r->flags & SFB_RULE_RA_SIGNED) != 0;
    return (r->flags & SFB_RULE_RA_SIGNED) == 0 || v.amount != key;
}

static bool cfa_differs(const struct frame_state *s, const struct machine *m,
                        const struct sfb_rule *r)
{
    const uint8_t base = r->cfa_base == SFB_BASE_SP   ? m->sp
                         : r->cfa_base == SFB_BASE_FP ? m->fp
                                                      : r->cfa_reg;

    if ((r->flags & SFB_RULE_CFA_DEREF) != 0 || base >= INSN_REGISTERS)
        return false;
    if (s->reg[base].kind == VALUE_CFA)
        return s->reg[base].amount != -(int64_t)r->cfa_offset;
    return base != m->sp && s->reg[base].kind != VALUE_UNKNOWN;
}

/*
 * Whether the row has no place for an overwritten register. Assembly that needs every register,
 * with callers that keep them, has no wrong row.
 */
static bool is_only_lost(const struct frame_state *s, uint8_t reg, const struct sfb_saved *saved)
{
    return saved->where == SFB_WHERE_UNSAVED && s->reg[reg].kind != VALUE_CFA;
}

unsigned code_difference(const struct frame_state *s, const struct machine *m,
                         const struct sfb_rule *r)
{
    const bool has_lr = m->lr != INSN_NO_REGISTER;
    unsigned lost = 0;

    if (cfa_differs(s, m, r))
        return CODE_INSN_CFA;
    if (has_lr && is_wrong(s, m->lr, &r->ra)) {
        if (!is_only_lost(s, m->lr, &r->ra))
            return CODE_INSN_RA;
        lost = CODE_INSN_LOST;
    }
    if (has_lr && is_signed_otherwise(s, m, r))
        return CODE_INSN_SIGNED;
    if (is_wrong(s, m->fp, &r->fp)) {
        if (!is_only_lost(s, m->fp, &r->fp))
            return CODE_INSN_FP;
        lost = CODE_INSN_LOST;
    }
    return lost;
}

/* ---- text ---- */

static struct sfb_saved saved_of(const struct frame_state *s, uint8_t reg)
{
    if (reg >= INSN_REGISTERS || s->reg[reg].kind == VALUE_ENTRY)
        return (struct sfb_saved){ .where = SFB_WHERE_UNSAVED };
    for (unsigned i = 0; i < s->slots; i++)
        if (s->slot[i].value.kind == VALUE_ENTRY && s->slot[i].value.reg == reg)
            return (struct sfb_saved){ .where = SFB_WHERE_CFA, .offset = (int32_t)s->slot[i].at };
    return (struct sfb_saved){ .where = SFB_WHERE_UNSAVED };
}

/* The row that fits the code, counted from the same register as the wrong one. */
static void words_of(char *out, const struct frame_state *s, const struct machine *m, uint8_t abi,
                     const struct sfb_rule *like)
{
    struct sfb_rule r = { .cfa_base = like->cfa_base };
    int64_t height;

    if (!state_height(s, like->cfa_base == SFB_BASE_FP ? m->fp : m->sp, &height)) {
        r.cfa_base = like->cfa_base == SFB_BASE_FP ? SFB_BASE_SP : SFB_BASE_FP;
        if (!state_height(s, r.cfa_base == SFB_BASE_FP ? m->fp : m->sp, &height)) {
            snprintf(out, RULE_WORDS_SIZE, "another frame");
            return;
        }
    }
    r.cfa_offset = (int32_t)height;
    r.fp = saved_of(s, m->fp);
    if (m->lr == INSN_NO_REGISTER) {
        r.ra = (struct sfb_saved){ .where = SFB_WHERE_CFA, .offset = -m->word };
    } else {
        struct value v;

        r.ra = saved_of(s, m->lr);
        if (find_saved(s, m->lr, &r.ra, &v) && v.kind == VALUE_ENTRY && v.amount != 0)
            r.flags |= (uint8_t)(SFB_RULE_RA_SIGNED | (v.amount == 2 ? SFB_RULE_RA_KEY_B : 0));
    }
    rule_words(out, &r, abi);
    if (is_wrong(s, m->fp, &r.fp))
        snprintf(out + strlen(out), RULE_WORDS_SIZE - strlen(out), "; FP is overwritten");
    if (m->lr != INSN_NO_REGISTER && is_wrong(s, m->lr, &r.ra))
        snprintf(out + strlen(out), RULE_WORDS_SIZE - strlen(out), "; RA is overwritten");
}

void code_note(struct code_function *u, enum check_code code, struct code_row *row, uint64_t pc,
               const struct frame_state *s, const char *why)
{
    if (row->code != 0 && (check_code_text((enum check_code)row->code)->severity != CHECK_NOTE ||
                           check_code_text(code)->severity == CHECK_NOTE))
        return; /* one finding a row, and errors before notes */
    row->code = code;
    row->pc = pc;
    if (why)
        snprintf(row->words, sizeof row->words, "%s", why);
    else if (findings_want_text(u->cc->c->findings, code))
        words_of(row->words, s, &u->cc->machine, u->f.part->abi, &row->rule);
}

void code_say(struct code_function *u)
{
    for (size_t i = 0; i < u->row_count; i++) {
        const struct code_row *row = &u->rows[i];
        char ours[RULE_WORDS_SIZE] = "";

        if (row->code == 0 ||
            (u->tricks && (row->code == CODE_INSN_CFA || row->code == CODE_INSN_RA)))
            continue;
        if (row->code == CODE_INSN_OUTERMOST)
            u->cc->callers[u->index].said = true;
        if (findings_want_text(u->cc->c->findings, (enum check_code)row->code))
            rule_words(ours, &row->rule, u->f.part->abi);
        say_at(u->cc->c, (enum check_code)row->code,
               place_of_row(u->f.part, u->f.entry, row->index, row->position), row->pc,
               (struct finding_rules){ ours, NULL }, ": .sframe: %s; code: %s", ours, row->words);
    }
}
