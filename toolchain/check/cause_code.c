#include "toolchain/check/cause_code.h"

#include <stdlib.h>

#include "symbols/code_ranges.h"
#include "toolchain/check/cause_hunt.h"
#include "toolchain/check/cause_index.h"
#include "toolchain/check/code.h"

/* Instructions of a function, and of all together for each byte of code. */
enum { STEPS_MOST = 4096, READ_PER_BYTE = 4, READ_LEAST = 0x10000 };

/* A frame, from an instruction on. */
struct step {
    uint32_t at; /* from the function's start */
    struct frame_state state;
};

struct code_rows {
    struct check c; /* what is followed is not reported */
    struct code_check cc;
    struct code_function u;
    struct step *steps; /* of the function that was asked last */
    size_t count;
    bool returns;
};

/* ---- the rows of a frame ---- */

/* Whether the word or the register has the caller's value. */
static bool holds(const struct value *v, uint8_t reg)
{
    return v->kind == VALUE_ENTRY && v->reg == reg;
}

/* Where compilers say that a register is: AMD64's do not take back the place behind a pop. */
static struct sfb_saved saved_of(const struct frame_state *s, const struct machine *m, uint8_t reg)
{
    const struct sfb_saved unsaved = { .where = SFB_WHERE_UNSAVED };

    if (m->lr != INSN_NO_REGISTER && holds(&s->reg[reg], reg))
        return unsaved;
    for (unsigned i = 0; i < s->slots; i++)
        if (holds(&s->slot[i].value, reg))
            return (struct sfb_saved){ .where = SFB_WHERE_CFA, .offset = (int32_t)s->slot[i].at };
    return unsaved;
}

/* @return false: the CFA's place is unknown */
static bool rule_of(struct sfb_rule *out, const struct frame_state *s, const struct machine *m)
{
    const struct value *fp = &s->reg[m->fp];
    const bool frame = fp->kind == VALUE_CFA && m->word != 0 && fp->amount == -2 * (int64_t)m->word;
    int64_t height;

    *out = (struct sfb_rule){ .cfa_base = frame ? SFB_BASE_FP : SFB_BASE_SP };
    if (!state_height(s, frame ? m->fp : m->sp, &height)) {
        out->cfa_base = SFB_BASE_FP;
        if (!state_height(s, m->fp, &height))
            return false;
    }
    out->cfa_offset = (int32_t)height;
    out->fp = saved_of(s, m, m->fp);
    if (m->lr == INSN_NO_REGISTER) {
        out->ra = (struct sfb_saved){ .where = SFB_WHERE_CFA, .offset = -m->word };
        return true;
    }
    out->ra = saved_of(s, m, m->lr);
    if (out->ra.where == SFB_WHERE_UNSAVED && holds(&s->reg[m->lr], m->lr) &&
        s->reg[m->lr].amount != 0)
        out->flags |= SFB_RULE_RA_SIGNED;
    for (unsigned i = 0; i < s->slots; i++)
        if (out->ra.where == SFB_WHERE_CFA && s->slot[i].at == out->ra.offset &&
            s->slot[i].value.amount != 0)
            out->flags |= SFB_RULE_RA_SIGNED;
    return true;
}

/* The row of the section there; NULL: none. */
static const struct sfb_rule *said_at(const struct row_pair *p, uint32_t at, uint32_t *next)
{
    while (*next < p->count && p->row[*next].start <= at)
        ++*next;
    return *next == 0 ? NULL : &p->row[*next - 1].rule;
}

/* Whether a row says what the code does. */
static bool says_it(const struct code_rows *code, const struct sfb_rule *said,
                    const struct frame_state *s)
{
    if (said->flags & SFB_RULE_OUTERMOST)
        return !code->returns;
    return code_difference(s, &code->cc.machine, said) == 0;
}

/* Rows of the function that are looked at for the words of a frame, on each side. */
enum { ROWS_NEAR = 4 };

/* A row of the function that says what the code does: the next ones first. NULL: none. */
static const struct sfb_rule *near_row(const struct code_rows *code, const struct row_pair *p,
                                       uint32_t next, const struct frame_state *s)
{
    for (uint32_t k = 0; k < 2 * ROWS_NEAR; k++) {
        const uint32_t i = k < ROWS_NEAR ? next + k : next + ROWS_NEAR - 2 - k;

        if (i < p->count && (p->row[i].rule.flags & SFB_RULE_OUTERMOST) == 0 &&
            says_it(code, &p->row[i].rule, s))
            return &p->row[i].rule;
    }
    return NULL;
}

static bool same_rule(const struct sfb_rule *a, const struct sfb_rule *b)
{
    return a->cfa_base == b->cfa_base && a->cfa_reg == b->cfa_reg &&
           a->cfa_offset == b->cfa_offset && a->flags == b->flags && a->cfa_add == b->cfa_add &&
           a->ra.where == b->ra.where && a->ra.reg == b->ra.reg && a->ra.offset == b->ra.offset &&
           a->fp.where == b->fp.where && a->fp.reg == b->fp.reg && a->fp.offset == b->fp.offset;
}

/* Fills in the rows of the followed function; the rows that were read decide their words. @return false: unknown */
static bool adapt(struct row_pair *p)
{
    const struct code_rows *code = p->want_data;
    const struct machine *m = &code->cc.machine;
    const uint8_t signal = p->count > 0 ? p->row[0].rule.flags & SFB_RULE_SIGNAL : 0;
    uint32_t next = 0;

    p->wanted = 0;
    for (size_t i = 0; i < code->count; i++) {
        const struct step *step = &code->steps[i];
        const struct sfb_rule *said = said_at(p, step->at, &next);
        struct cfi_row row = { .start = step->at, .answer = CFI_RULE, .signs_known = m->word == 0 };

        if (!said || !says_it(code, said, &step->state))
            said = near_row(code, p, next, &step->state);
        if (said)
            row.rule = *said;
        else if (!rule_of(&row.rule, &step->state, m))
            return false;
        else
            row.rule.flags |= signal;
        if (p->wanted > 0 && same_rule(&p->want[p->wanted - 1].rule, &row.rule))
            continue;
        if (p->wanted == PAIR_ROWS)
            return false;
        p->want[p->wanted++] = row;
    }
    return p->wanted > 0;
}

/* ---- following ---- */

static int by_place(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

/* The frames from the beginning of a block to its end. @return false: it returns with another one */
static bool add_block(struct code_rows *code, size_t at)
{
    struct code_function *u = &code->u;
    const struct machine *m = &code->cc.machine;
    struct frame_state s = *u->states[at];

    for (size_t i = at; i < u->insn_count && code->count < STEPS_MOST; i++) {
        const struct insn *n = &u->insns[i];
        int64_t height;

        if (i > at && u->states[i])
            return true;
        code->steps[code->count++] = (struct step){ (uint32_t)(n->address - u->start), s };
        if (n->flow == FLOW_RETURN) {
            code->returns = true;
            return state_height(&s, m->sp, &height) && height == m->entry;
        }
        if (n->flow == FLOW_JUMP || n->flow == FLOW_AWAY)
            return true;
        state_apply(&s, m, n);
    }
    return code->count < STEPS_MOST;
}

/* Follows a function. @return false: not all of it, or not to its end */
static bool follow(struct code_rows *code, const struct cfi_function *f, const struct row_pair *p)
{
    struct code_function *u = &code->u;
    struct check_function function = p->function;
    struct sframe_entry e = *function.entry;
    bool good;

    e.start = f->start;
    e.size = (uint32_t)(f->end - f->start);
    e.info &= (uint8_t)~FUNCTION_PCMASK;
    e.repeat = 0;
    function.entry = &e;
    code->count = 0;
    code->returns = false;
    good = code_function_read(u, function) && code_follow_blindly(u);
    for (unsigned i = 0; i < GAP_COUNT; i++)
        good &= !u->gaps[i];
    for (size_t i = 0; good && i < u->insn_count; i++)
        good = (u->marks[i] & MARK_VISITED) != 0 || u->insns[i].padding;
    for (size_t i = 0; good && i < u->insn_count; i++)
        good = !u->states[i] || add_block(code, i);
    qsort(code->steps, code->count, sizeof *code->steps, by_place);
    code_function_reset(u);
    return good && code->count > 0;
}

static bool in_linkage_table(const struct check *c, uint64_t pc)
{
    for (size_t i = 0; i < c->plt_count; i++) {
        const struct object_section *s = &c->object->sections[c->plt[i]];

        if (pc >= s->address && pc - s->address < s->header.sh_size)
            return true;
    }
    return false;
}

/* The second part of a split function begins with a frame, and returns from none. */
static bool is_part(const struct code_rows *code, const struct row_pair *p)
{
    return p->count > 0 && !code->returns && !says_it(code, &p->row[0].rule, &code->steps[0].state);
}

/* Whether another entry of the section begins in that code. */
static bool reaches_into_next(const struct row_pair *p, const struct cfi_function *f)
{
    const struct pair_index *index = p->index;

    return pair_rank(index->starts, index->count, f->end) >
           pair_rank(index->starts, index->count, f->start + 1);
}

static bool want(struct row_pair *p, const struct cfi_function *f)
{
    struct code_rows *code = p->want_data;

    p->wanted = 0;
    code->count = 0;
    if (!p->elsewhere && reaches_into_next(p, f))
        return false;
    return !in_linkage_table(&code->c, f->start) && follow(code, f, p) && !is_part(code, p) &&
           adapt(p);
}

/* ---- opening ---- */

struct code_rows *code_rows_open(const struct check *c)
{
    const uint8_t abi = c->part_count > 0 ? c->parts[0].abi : 0;
    struct code_rows *code;
    uint64_t bytes = 0;

    if (!c->object || c->object->abi != abi || c->options->code == CHECK_CODE_NONE ||
        (c->options->code == CHECK_CODE_WHERE_NEEDED && c->options->no_cfi))
        return NULL;
    code = calloc(1, sizeof *code);
    if (!code)
        return NULL;
    code->c = *c;
    code->steps = calloc(STEPS_MOST, sizeof *code->steps);
    code->cc = (struct code_check){ .c = &code->c, .machine = machine_of(abi), .blind = true };
    code->cc.decoder = decoder_open(abi);
    for (size_t i = 0; i < c->object->code_count; i++)
        bytes += c->object->code[i].end - c->object->code[i].start;
    code->cc.code_left = bytes * READ_PER_BYTE + READ_LEAST;
    code->u.cc = &code->cc;
    if (code->steps && code->cc.decoder)
        return code;
    code_rows_close(code);
    return NULL;
}

void code_rows_close(struct code_rows *code)
{
    if (!code)
        return;
    code_function_free(&code->u);
    if (code->cc.decoder)
        decoder_close(code->cc.decoder);
    free(code->steps);
    free(code);
}

static int by_start(const void *a, const void *b)
{
    const struct cfi_function *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

bool code_rows_functions(struct cfi *out, const struct hunt *h)
{
    const uint32_t count = hunt_functions(h);

    *out = (struct cfi){ .functions = calloc((size_t)count + 1, sizeof *out->functions) };
    for (uint32_t i = 0; out->functions && i < count; i++) {
        const struct sframe_entry *e = hunt_function(h, i).entry;

        if (e->size > 0 && object_is_code(h->c->object, e->start, e->start + e->size))
            out->functions[out->count++] =
                (struct cfi_function){ .start = e->start, .end = e->start + e->size };
    }
    if (out->functions && out->count > 0)
        qsort(out->functions, out->count, sizeof *out->functions, by_start);
    return out->functions != NULL;
}

void code_rows_attach(struct code_rows *code, struct row_pair *p)
{
    p->want_by = want;
    p->adapt = adapt;
    p->want_data = code;
}
