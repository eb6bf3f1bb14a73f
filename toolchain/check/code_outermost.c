/*
 * Rows without a caller, which version 3 has: the code says whether there is one. A return goes to it,
 * and a call whose code goes on expects one.
 */
#include <inttypes.h>

#include "toolchain/check/code.h"
#include "toolchain/check/say.h"

/* Whether the function's code goes on behind a call: no no-op, and no trap. */
static bool goes_on(const struct code_function *u, size_t at)
{
    const struct insn *next = &u->insns[at + 1];

    return at + 1 < u->insn_count && (u->marks[at] & MARK_HOLE) == 0 && !next->padding &&
           next->flow != FLOW_MAYBE;
}

/* Whether the row at the function's start says that there is no caller. */
static bool starts_outermost(const struct check_function *f)
{
    struct sframe_row r;
    struct sfb_rule rule;

    if (f->entry->row_count == 0)
        return f->part->version->has_attribute;
    return sframe_row_read(&r, f->part, f->entry, sframe_first_row(f->part, f->entry)) ==
               ROW_READ &&
           r.start == 0 && sframe_row_rule(&rule, f->part, f->entry, &r) == NULL &&
           (rule.flags & SFB_RULE_OUTERMOST) != 0;
}

void code_call_outermost(struct code_function *u, size_t from)
{
    const struct insn *i = &u->insns[from];
    struct code_check *cc = u->cc;
    const struct check_function *f = i->has_target ? code_function_at(cc, i->target) : NULL;

    if (!f || fix_is(f->part->fix, FIX_OUTERMOST) || f->entry->start != i->target ||
        !starts_outermost(f) || !goes_on(u, from))
        return;
    cc->callers[f - cc->all].pc = i->address;
    cc->callers[f - cc->all].known = true;
}

void code_say_called(struct code_check *cc)
{
    for (size_t i = 0; i < cc->count; i++) {
        const struct check_function *f = &cc->all[i];

        if (cc->callers[i].known && !cc->callers[i].said)
            say_at(cc->c, CODE_INSN_OUTERMOST, place_of_entry(f->part, f->entry, FIELD_ROW_COUNT),
                   f->entry->start, no_rules,
                   ": a call leads there from 0x%" PRIx64 ", and the code goes on behind it",
                   cc->callers[i].pc);
    }
}
