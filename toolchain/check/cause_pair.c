#include "toolchain/check/cause_pair.h"

#include "toolchain/check/difference.h"

bool pair_read(struct row_pair *p, const struct sframe_part *part, const struct sframe_entry *e)
{
    uint64_t at = sframe_first_row(part, e);

    p->as_it_is = false;
    p->count = 0;
    if (e->row_count > PAIR_ROWS || at > part->fre_size)
        return false;
    while (p->count < e->row_count) {
        struct pair_row *to = &p->row[p->count];
        struct sframe_row r;

        if (sframe_row_read(&r, part, e, at) != ROW_READ ||
            sframe_row_rule(&to->rule, part, e, &r) != NULL)
            return false;
        to->start = r.start;
        at += r.size;
        p->count++;
    }
    p->as_it_is = part == p->function.part && e == p->function.entry;
    return true;
}

bool pair_want(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f)
{
    return p->want_by ? p->want_by(p, f) : pair_want_range(p, cfi, f, f->start, f->end);
}

bool pair_want_range(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f,
                     uint64_t start, uint64_t end)
{
    struct cfi_rows rows;
    struct cfi_row row;

    p->wanted = 0;
    cfi_rows_open(&rows, cfi, f, start, end);
    while (cfi_rows_next(&rows, &row)) {
        if (row.answer != CFI_RULE || p->wanted >= PAIR_ROWS)
            return false;
        row.start -= start;
        if (p->wanted == 0 || rule_difference(&p->want[p->wanted - 1].rule, &row) != 0)
            p->want[p->wanted++] = row;
    }
    return p->wanted > 0;
}
