/* Reads the rows and the instructions of a function. */
#include <stdlib.h>

#include "symbols/code_ranges.h"
#include "toolchain/check/code.h"
#include "util/grow.h"

/* Of one function: the rest is skipped. */
enum { INSNS_MAX = 1 << 22, ROWS_MAX = 1 << 20 };

/* Version 3: a function without rows has no caller. */
static bool add_outermost(struct code_function *u)
{
    if (!array_make_room(&u->rows, 0, &u->row_capacity, sizeof *u->rows)) {
        u->cc->c->no_memory = true;
        return false;
    }
    u->rows[0] = (struct code_row){ .rule.flags = SFB_RULE_OUTERMOST,
                                    .position = sframe_first_row(u->f.part, u->f.entry),
                                    .outermost = true };
    u->row_count = 1;
    return true;
}

static bool read_rows(struct code_function *u)
{
    const struct sframe_part *p = u->f.part;
    const struct sframe_entry *e = u->f.entry;
    uint64_t position = sframe_first_row(p, e);

    if (u->cc->blind)
        return true;
    if (e->row_count == 0 && !e->rows_lost && p->version->has_attribute &&
        !fix_is(p->fix, FIX_OUTERMOST))
        return add_outermost(u);
    for (uint32_t i = 0; i < e->row_count && !e->rows_lost; i++) {
        struct sframe_row r;
        struct code_row *row;

        if (u->cc->rows_left == 0 || i == ROWS_MAX) {
            u->gaps[GAP_LARGE] = true;
            return false;
        }
        u->cc->rows_left--;
        if (sframe_row_read(&r, p, e, position) != ROW_READ)
            break;
        if (!array_make_room(&u->rows, u->row_count, &u->row_capacity, sizeof *u->rows)) {
            u->cc->c->no_memory = true;
            return false;
        }
        row = &u->rows[u->row_count];
        *row = (struct code_row){ .start = r.start, .position = r.at, .index = i };
        row->usable = sframe_row_rule(&row->rule, p, e, &r) == NULL;
        row->outermost = row->usable && (row->rule.flags & SFB_RULE_OUTERMOST) != 0;
        row->usable &= !row->outermost;
        row->outermost &= !fix_is(p->fix, FIX_OUTERMOST);
        position += r.size;
        /* Descending rows are reported elsewhere. */
        if (u->row_count > 0 && row->start < row[-1].start)
            break;
        u->row_count++;
    }
    return u->row_count > 0;
}

/* Where decoding resumes behind invalid bytes: at the next row, from *next on. */
static uint64_t next_row(const struct code_function *u, uint64_t pc, size_t *next)
{
    while (*next < u->row_count && u->start + u->rows[*next].start <= pc)
        ++*next;
    return *next < u->row_count && u->repeat == 0 ? u->start + u->rows[*next].start : u->end;
}

/*
 * In an object file a relocation has the target, and the field is empty. In linked files a call of
 * the next instruction reads the pc: it pushes a word, and never returns.
 */
static void correct_target(const struct code_function *u, struct insn *i)
{
    const struct machine *m = &u->cc->machine;
    const bool empty = i->has_target && i->target == (m->word ? insn_end(i) : i->address);

    if (!empty)
        return;
    if (u->cc->c->object->relocatable) {
        i->has_target = false;
        if (i->flow == FLOW_JUMP)
            i->flow = FLOW_AWAY;
    } else if (i->flow == FLOW_CALL && m->word) {
        i->flow = FLOW_ON;
        i->kills = 0;
        i->has_target = false;
        i->what = WHAT_STORE;
        i->base = m->sp;
        i->before = -m->word;
        i->bytes = (uint16_t)m->word;
        i->words = 1;
    }
}

static bool read_insns(struct code_function *u, const uint8_t *code, uint64_t code_end)
{
    size_t next = 0;

    for (uint64_t pc = u->start; pc < u->end;) {
        struct insn *i;

        if (u->cc->code_left == 0 || u->insn_count == INSNS_MAX) {
            u->gaps[GAP_LARGE] = true;
            return false;
        }
        if (!array_make_room(&u->insns, u->insn_count, &u->insn_capacity, sizeof *u->insns)) {
            u->cc->c->no_memory = true;
            return false;
        }
        i = &u->insns[u->insn_count];
        u->cc->code_left--;
        if (decoder_read(u->cc->decoder, i, code + (pc - u->start), (size_t)(code_end - pc), pc)) {
            correct_target(u, i);
            u->insn_count++;
            pc += i->size;
            continue;
        }
        u->gaps[GAP_BYTES] = true;
        pc = next_row(u, pc, &next);
    }
    return u->insn_count > 0;
}

static uint64_t end_of_code(const struct object *o, uint64_t pc)
{
    for (size_t i = 0; i < o->code_count; i++)
        if (pc >= o->code[i].start && pc < o->code[i].end)
            return o->code[i].end;
    return pc;
}

static bool make_room(struct code_function *u)
{
    u->states = calloc(u->insn_count, sizeof *u->states);
    u->marks = calloc(u->insn_count, 1);
    u->queue = calloc(u->insn_count, sizeof *u->queue);
    if (u->states && u->marks && u->queue)
        return true;
    u->cc->c->no_memory = true;
    return false;
}

static void mark(struct code_function *u)
{
    for (size_t i = 0; i < u->insn_count; i++) {
        const struct insn *n = &u->insns[i];

        if (i + 1 < u->insn_count && insn_end(n) != u->insns[i + 1].address)
            u->marks[i] |= MARK_HOLE;
        if (n->has_target && n->flow != FLOW_CALL) {
            const size_t target = code_insn_at(u, n->target);

            if (target < u->insn_count)
                u->marks[target] |= MARK_LEADER;
        }
    }
}

bool code_function_read(struct code_function *u, struct check_function f)
{
    const struct object *o = u->cc->c->object;
    const uint64_t start = f.entry->start, end = start + f.entry->size;
    const uint64_t code_end = end_of_code(o, start);
    const uint8_t *code = object_code_at(o, start, code_end - start);

    u->f = f;
    u->start = start;
    u->end = end;
    u->repeat = sframe_repeat(f.part, f.entry);
    if (!code || end <= start || end > code_end || !read_rows(u) ||
        !read_insns(u, code, code_end) || !make_room(u))
        return false;
    mark(u);
    return true;
}

void code_function_reset(struct code_function *u)
{
    for (size_t i = 0; u->states && i < u->insn_count; i++)
        free(u->states[i]);
    free(u->states);
    free(u->marks);
    free(u->queue);
    *u = (struct code_function){ .cc = u->cc,
                                 .rows = u->rows,
                                 .row_capacity = u->row_capacity,
                                 .insns = u->insns,
                                 .insn_capacity = u->insn_capacity };
}

void code_function_free(struct code_function *u)
{
    code_function_reset(u);
    free(u->rows);
    free(u->insns);
}

struct code_row *code_row_at(const struct code_function *u, uint64_t pc)
{
    const uint64_t offset = u->repeat ? (pc - u->start) % u->repeat : pc - u->start;
    size_t low = 0, high = u->row_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (u->rows[middle].start <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : &u->rows[low - 1];
}

size_t code_insn_at(const struct code_function *u, uint64_t pc)
{
    size_t low = 0, high = u->insn_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (u->insns[middle].address < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low < u->insn_count && u->insns[low].address == pc ? low : u->insn_count;
}
