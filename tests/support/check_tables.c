#include "check_tables.h"

#include <string.h>

/* ---- what is described ---- */

struct file_function file_function_of(const struct file_plan *p, unsigned index)
{
    const bool amd64 = file_is_amd64(p);
    const int32_t least = amd64 ? 8 : 0, ra = amd64 ? 0 : -8;
    struct file_function all[] = {
        { .start = FILE_TEXT_AT,
          .size = 0x30,
          .row_count = 3,
          .rows = { { 0, true, false, least, 0, 0 },
                    { 4, true, !amd64, least + 16, ra, -16 },
                    { 0x2c, true, false, least, 0, 0 } } },
        { .start = FILE_TEXT_AT + 0x40,
          .size = 0x20,
          .row_count = 1,
          .rows = { { 0, true, false, least, 0, 0 } } },
        { .start = FILE_PLT_AT,
          .size = FILE_PLT_SIZE,
          .pcmask = true,
          .row_count = 2,
          .rows = { { 0, true, false, 8, 0, 0 }, { 11, true, false, 16, 0, 0 } } },
    };

    if (p->repeats) {
        all[1].row_count = 2;
        all[1].rows[1] = all[1].rows[0];
        all[1].rows[1].start = 0x10;
    }
    return all[index];
}

/* ---- .sframe ---- */

static void put_row(struct file_pen *p, const struct file_plan *plan, const struct file_row *r,
                    bool flex, bool wide)
{
    unsigned count = 1;

    file_put(p, wide ? 2 : 1, r->start);
    if (flex) {
        file_put(p, 1, 2 << 1);
        file_put(p, 1, file_is_amd64(plan) ? 0x39 : 31 << 3 | 1);
        file_put(p, 1, (uint8_t)r->cfa);
        return;
    }
    count += (unsigned)(r->ra != 0) + (unsigned)(r->fp != 0);
    file_put(p, 1, (r->is_signed ? 0x80u : 0u) | count << 1 | (r->sp ? 1u : 0u));
    file_put(p, 1, (uint8_t)r->cfa);
    if (r->ra != 0)
        file_put(p, 1, (uint8_t)r->ra);
    if (r->fp != 0)
        file_put(p, 1, (uint8_t)r->fp);
}

static unsigned entry_size(unsigned version)
{
    return version == 1 ? 17 : version == 2 ? 20 : 16;
}

static void put_entry(struct file_pen *p, const struct file_plan *plan,
                      const struct file_function *f, uint32_t row_at, bool wide)
{
    const bool from_field = plan->version == 3 || plan->relocatable;
    const uint64_t start =
        plan->relocatable ? 0 : f->start - (from_field ? p->at : (uint64_t)FILE_SFRAME_AT);

    file_put(p, plan->version == 3 ? 8 : 4, start);
    file_put(p, 4, f->size);
    file_put(p, 4, row_at);
    if (plan->version == 3)
        return;
    file_put(p, 4, f->row_count);
    file_put(p, 1, (f->pcmask ? 0x10u : 0u) | (plan->key_b ? 0x20u : 0u) | wide);
    if (plan->version == 2)
        file_put(p, 3, (uint64_t)(f->pcmask ? 16 : 0) << (p->f->big ? 16 : 0));
}

static void put_functions(struct file *f, const struct file_plan *plan, size_t fdes, size_t fres)
{
    struct file_pen entry = { f, fdes }, row = { f, fres };

    for (unsigned i = 0; i < f->functions; i++) {
        const struct file_function d = file_function_of(plan, i);
        const uint32_t row_at = (uint32_t)(row.at - fres);
        const bool flex = plan->flex && i == 1;

        if (plan->skip == i && i > 0)
            continue;
        f->fde[i] = (uint32_t)(entry.at - FILE_SFRAME_AT);
        f->attribute[i] = (uint32_t)(row.at - FILE_SFRAME_AT);
        if (plan->version == 3) {
            file_put(&row, 2, d.row_count);
            file_put(&row, 1,
                     (d.pcmask ? 0x10u : 0u) | (plan->key_b ? 0x20u : 0u) |
                         (plan->signal ? 0x80u : 0u));
            file_put(&row, 1, flex);
            file_put(&row, 1, d.pcmask ? 16 : 0);
        }
        put_entry(&entry, plan, &d, row_at, plan->wide && i == 1);
        for (unsigned k = 0; k < d.row_count; k++) {
            f->row[i][k] = (uint32_t)(row.at - FILE_SFRAME_AT);
            put_row(&row, plan, &d.rows[k], flex, plan->wide && i == 1);
        }
        f->row[i][d.row_count] = (uint32_t)(row.at - FILE_SFRAME_AT);
    }
    f->sframe_size = row.at - FILE_SFRAME_AT;
}

void file_put_sframe(struct file *f, const struct file_plan *plan)
{
    struct file_pen p = { f, FILE_SFRAME_AT };
    const bool flags = !plan->without_flags && !plan->relocatable;
    unsigned count = 0, rows = 0;
    size_t fdes, fres;

    for (unsigned i = 0; i < f->functions; i++) {
        count += !(plan->skip == i && i > 0);
        rows += plan->skip == i && i > 0 ? 0 : file_function_of(plan, i).row_count;
    }
    fdes = FILE_SFRAME_AT + 28u + plan->aux_size + plan->fde_gap;
    fres = fdes + (size_t)count * entry_size(plan->version) + plan->fre_gap;
    file_put(&p, 2, 0xdee2);
    file_put(&p, 1, plan->version);
    file_put(&p, 1, (uint8_t)(flags | (plan->version == 3 ? 4 : 0)));
    file_put(&p, 1, plan->abi);
    file_put(&p, 1, 0);
    file_put(&p, 1, file_is_amd64(plan) ? 0xf8 : 0);
    file_put(&p, 1, plan->aux_size);
    file_put(&p, 4, count);
    file_put(&p, 4, rows);
    file_put(&p, 4, 0);
    file_put(&p, 4, plan->fde_gap);
    file_put(&p, 4, fres - FILE_SFRAME_AT - 28 - plan->aux_size);
    put_functions(f, plan, fdes, fres);
    file_set(f, FILE_SFRAME_AT + 16, 4, FILE_SFRAME_AT + f->sframe_size - fres);
}

/* ---- .eh_frame ---- */

static void put_saved(struct file_pen *p, unsigned reg, int32_t offset)
{
    if (offset != 0) {
        file_put(p, 1, 0x80 | reg); /* DW_CFA_offset; the data alignment factor is -8 */
        file_put(p, 1, (uint64_t)(-offset / 8));
    } else {
        file_put(p, 1, 0x08); /* DW_CFA_same_value */
        file_put(p, 1, reg);
    }
}

static void put_rule(struct file_pen *p, const struct file_plan *plan, const struct file_row *r,
                     bool *is_signed)
{
    const bool amd64 = file_is_amd64(plan);

    file_put(p, 1, 0x0c); /* DW_CFA_def_cfa */
    file_put(p, 1, amd64 ? (r->sp ? 7 : 6) : (r->sp ? 31 : 29));
    file_put(p, 1, (uint64_t)r->cfa);
    put_saved(p, amd64 ? 6 : 29, r->fp);
    if (!amd64)
        put_saved(p, 30, r->ra);
    if (*is_signed != r->is_signed)
        file_put(p, 1, 0x2d); /* DW_CFA_AARCH64_negate_ra_state */
    *is_signed = r->is_signed;
}

static void put_program(struct file_pen *p, const struct file_plan *plan,
                        const struct file_function *d)
{
    uint32_t at = 0;
    bool is_signed = false;

    for (uint32_t base = 0; base < d->size; base += d->pcmask ? 16 : d->size)
        for (unsigned k = 0; k < d->row_count; k++) {
            const uint32_t start = base + d->rows[k].start;

            if (start > at) {
                file_put(p, 1, 0x02); /* DW_CFA_advance_loc1 */
                file_put(p, 1, start - at);
                at = start;
            }
            put_rule(p, plan, &d->rows[k], &is_signed);
        }
}

static void end_entry(struct file_pen *p, size_t length_at)
{
    while ((p->at - length_at) % 8 != 4)
        file_put(p, 1, 0); /* DW_CFA_nop */
    file_set(p->f, length_at, 4, p->at - length_at - 4);
}

static size_t put_cie(struct file_pen *p, const struct file_plan *plan)
{
    const size_t start = p->at;
    const char *letters = plan->key_b ? "zRB" : plan->signal ? "zRS" : "zR";

    file_put(p, 4, 0);
    file_put(p, 4, 0);
    file_put(p, 1, 1);
    for (size_t i = 0; i <= strlen(letters); i++)
        file_put(p, 1, (uint8_t)letters[i]);
    file_put(p, 1, 1);
    file_put(p, 1, 0x78); /* -8 */
    file_put(p, 1, file_is_amd64(plan) ? 16 : 30);
    file_put(p, 1, 1);
    file_put(p, 1, 0x1b); /* pcrel, sdata4 */
    file_put(p, 1, 0x0c);
    file_put(p, 1, file_is_amd64(plan) ? 7 : 31);
    file_put(p, 1, file_is_amd64(plan) ? 8 : 0);
    if (file_is_amd64(plan))
        put_saved(p, 16, -8);
    end_entry(p, start);
    return start;
}

size_t file_put_eh_frame(struct file *f, const struct file_plan *plan)
{
    struct file_pen p = { f, FILE_EH_FRAME_AT };
    const size_t cie = put_cie(&p, plan);

    for (unsigned i = 0; i < f->functions; i++) {
        struct file_function d = file_function_of(plan, i);
        const size_t start = p.at;

        if (i == 2 && plan->cfi_lacks_plt)
            break;
        if (plan->repeats && i == 1)
            d.row_count = 1;
        f->eh_entry[i] = (uint32_t)(start - FILE_EH_FRAME_AT);
        file_put(&p, 4, 0);
        file_put(&p, 4, p.at - cie);
        file_put(&p, 4, plan->relocatable ? 0 : d.start - p.at);
        file_put(&p, 4, d.size);
        file_put(&p, 1, 0);
        put_program(&p, plan, &d);
        if (plan->ra_undefined && i == 1) {
            file_put(&p, 1, 0x07); /* DW_CFA_undefined */
            file_put(&p, 1, file_is_amd64(plan) ? 16 : 30);
        }
        end_entry(&p, start);
    }
    return p.at - FILE_EH_FRAME_AT;
}
