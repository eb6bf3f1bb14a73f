/* Jumps and calls between functions: the state at the edge must fit the row of the target. */
#include <inttypes.h>

#include "symbols/code_ranges.h"
#include "toolchain/check/code.h"
#include "toolchain/check/say.h"
#include "toolchain/check/words.h"

/* Instructions examined in front of a trap, and their bytes. */
enum { TRAP_MAX = 16, TRAP_BYTES = 16 };

const struct check_function *code_function_at(const struct code_check *cc, uint64_t pc)
{
    size_t low = 0, high = cc->count;
    const struct check_function *f;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (cc->all[middle].entry->start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    f = &cc->all[low - 1];
    return pc - f->entry->start < f->entry->size && !f->entry->rows_lost ? f : NULL;
}

/* The row that holds at a pc of a function. */
static bool row_at(struct code_check *cc, const struct check_function *f, uint64_t pc,
                   struct code_row *out)
{
    const uint32_t repeat = sframe_repeat(f->part, f->entry);
    const uint64_t whole = pc - f->entry->start, offset = repeat ? whole % repeat : whole;
    uint64_t position = sframe_first_row(f->part, f->entry);
    bool found = false;

    for (uint32_t i = 0; i < f->entry->row_count && cc->rows_left > 0; i++) {
        struct sframe_row r;

        cc->rows_left--;
        if (sframe_row_read(&r, f->part, f->entry, position) != ROW_READ || r.start > offset)
            break;
        *out = (struct code_row){ .start = r.start, .position = r.at, .index = i };
        found = sframe_row_rule(&out->rule, f->part, f->entry, &r) == NULL &&
                (out->rule.flags & SFB_RULE_OUTERMOST) == 0;
        position += r.size;
    }
    return found;
}

static void say_edge(struct code_function *u, enum check_code code, const struct insn *i,
                     const struct check_function *f, const struct code_row *row)
{
    char ours[RULE_WORDS_SIZE];

    rule_words(ours, &row->rule, f->part->abi);
    say_at(u->cc->c, code, place_of_row(f->part, f->entry, row->index, row->position), i->target,
           (struct finding_rules){ ours, NULL }, ": .sframe: %s; from 0x%" PRIx64, ours,
           i->address);
}

/*
 * Whether the code there traps at once: compilers place such a block where control never arrives,
 * and jump there with any frame.
 */
static bool is_trap(const struct code_check *cc, uint64_t pc)
{
    struct insn i;

    for (unsigned n = 0; n < TRAP_MAX; n++) {
        const uint8_t *code = object_code_at(cc->c->object, pc, TRAP_BYTES);

        if (!code || !decoder_read(cc->decoder, &i, code, TRAP_BYTES, pc))
            return false;
        if (i.flow != FLOW_ON)
            return i.flow == FLOW_MAYBE && !i.enters;
        pc = insn_end(&i);
    }
    return false;
}

void code_edge(struct code_function *u, const struct insn *i, const struct frame_state *s)
{
    struct code_check *cc = u->cc;
    const struct check_function *f = code_function_at(cc, i->target);
    struct frame_state callee;
    struct code_row row;
    unsigned code;

    if (!f && i->flow != FLOW_CALL)
        code_say_open(u, i, i->target, s);
    if (!f || f->entry == u->f.entry || !row_at(cc, f, i->target, &row))
        return;
    if (u->gaps[GAP_BYTES] && i->target != f->entry->start)
        return; /* behind unknown bytes the decoder may be between instructions */
    if (i->flow == FLOW_CALL) {
        state_enter(&callee, &cc->machine);
        s = &callee;
    }
    code = code_difference(s, &cc->machine, &row.rule);
    if ((code == CODE_INSN_CFA || (code == CODE_INSN_FP && i->flow != FLOW_CALL)) &&
        !is_trap(cc, i->target))
        say_edge(u, i->flow == FLOW_CALL ? CODE_INSN_CALL : CODE_INSN_JUMP, i, f, &row);
}
