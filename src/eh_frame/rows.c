/*
 * The rows of an entry one after the other, for tools that read all of them.
 *
 * The machine is copied in and out of the caller's storage. This keeps its type private, and costs less
 * than a row.
 */
#include <string.h>

#include "base/fail.h"
#include "eh_frame/expression.h"
#include "eh_frame/rule.h"

/* State between rows. */
struct state {
    struct sfb_cfi_machine machine;
    struct sfb_cfi_cell cells[SFB_CFI_CELLS(SFB_CFI_RULE_COLUMNS)];
};

_Static_assert(sizeof(struct state) <= sizeof((struct sfb_cfi_rows *)0)->state, "it has room");

static bool reads_pc(const struct sfb_cfi_machine *m)
{
    bool found = m->row.cfa_by_expression && sfb_expression_reads_pc(m->eh, m->row.cfa_expression);

    for (unsigned i = 0; i < SFB_CFI_RULE_COLUMNS && !found; i++)
        if (m->cell[i].how == SFB_CFI_EXPRESSION || m->cell[i].how == SFB_CFI_VAL_EXPRESSION)
            found = sfb_expression_reads_pc(m->eh, (uint32_t)m->cell[i].offset);
    return found;
}

/* Copies the state in, and corrects its pointers into itself. */
static void load(struct state *out, const struct sfb_cfi_rows *rows)
{
    memcpy(out, rows->state, sizeof *out);
    out->machine.cell = out->cells;
}

enum sfb_status sfb_cfi_rows_init(struct sfb_cfi_rows *out, const struct sfb_eh_frame *eh,
                                  const struct sfb_cfi_fde *fde, struct sfb_error *error)
{
    struct state s;
    enum sfb_status status;

    if (!out || !eh || !fde)
        return SFB_BAD_ARGUMENT;
    memset(&s, 0, sizeof s);
    status = sfb_cfi_machine_init(&s.machine, eh, fde, SFB_CFI_RULE_COLUMNS, s.cells);
    if (status != SFB_OK)
        return sfb_fail(error, status, "instructions", fde->cie_offset);
    *out = (struct sfb_cfi_rows){ .start = fde->start, .end = fde->start };
    memcpy(out->state, &s, sizeof s);
    return SFB_OK;
}

enum sfb_status sfb_cfi_rows_next(struct sfb_cfi_rows *rows, struct sfb_error *error)
{
    struct state s;
    enum sfb_status status;

    if (!rows)
        return SFB_BAD_ARGUMENT;
    load(&s, rows);
    status = sfb_cfi_machine_next(&s.machine);
    if (status == SFB_END)
        return SFB_END;
    if (status != SFB_OK)
        return sfb_fail(error, status, "instructions", s.machine.fde->offset);
    memcpy(rows->state, &s, sizeof s);
    rows->start = s.machine.start;
    rows->end = s.machine.end;
    rows->varies = reads_pc(&s.machine);
    return SFB_OK;
}

/* @return the part of a row that has no rule: all parts are cleared, then restored one by one */
static const char *part_at_fault(struct state *s, uint64_t pc)
{
    static const char *const names[] = {
        [SFB_CFI_RA] = "RA", [SFB_CFI_FP] = "fp", [SFB_CFI_SP] = "sp"
    };
    const struct sfb_cfi_cell same = { .how = SFB_CFI_SAME };
    struct sfb_cfi_cell cells[SFB_CFI_RULE_COLUMNS];
    struct sfb_rule ignored;

    for (unsigned i = 0; i < SFB_CFI_RULE_COLUMNS; i++) {
        cells[i] = s->cells[i];
        s->cells[i] = same;
    }
    for (unsigned i = 0; i < SFB_CFI_RULE_COLUMNS; i++) {
        const enum sfb_status status = sfb_cfi_row_rule(&ignored, &s->machine, pc);

        if (status != SFB_OK)
            return i == 0 ? "CFA" : names[i - 1];
        s->cells[i] = cells[i];
    }
    return names[SFB_CFI_RULE_COLUMNS - 1];
}

enum sfb_status sfb_cfi_rows_rule(const struct sfb_cfi_rows *rows, uint64_t pc,
                                  struct sfb_rule *out, struct sfb_error *error)
{
    struct state s;
    enum sfb_status status;

    if (!rows || !out || pc < rows->start || pc >= rows->end)
        return SFB_BAD_ARGUMENT;
    load(&s, rows);
    status = sfb_cfi_row_rule(out, &s.machine, pc);
    if (status != SFB_OK)
        return sfb_fail(error, status, part_at_fault(&s, pc), s.machine.fde->offset);
    return SFB_OK;
}
