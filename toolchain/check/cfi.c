#include "toolchain/check/cfi.h"

#include <stdlib.h>
#include <string.h>

#include <sfb/abi.h>

#include "toolchain/check/cfi_bounds.h"
#include "util/grow.h"

/*
 * Bytes of instructions that may be interpreted, for each byte of the section. Each function costs
 * its own instructions and its CIE's; with the pc in an expression, each byte of its code costs as
 * much. So a large CIE of many functions, or an expression for gigabytes of code, is not compared
 * to its end.
 */
enum { COST_PER_BYTE = 1024, COST_LEAST = 1 << 24 };

/* ---- the functions ---- */

struct reading {
    struct cfi *cfi;
    size_t capacity;
    uint64_t budget;         /* bytes of instructions that may still be examined */
    uint32_t cie_at;         /* the CIE that was examined last ... */
    const char *cie_refused; /* ... and why it is refused */
    bool known;
};

/* The instructions of an entry are examined once; a CIE's again after entries of other CIEs. */
enum { LOOKS_PER_BYTE = 64, LOOKS_LEAST = 1 << 20 };

/* Bytes of an encoded pointer; 0: variable. */
static size_t width_of(uint8_t encoding)
{
    switch (encoding & 7) {
    case 0: /* absptr */
    case 4: return 8;
    case 3: return 4;
    case 2: return 2;
    default: return 0;
    }
}

static const char *judge_program(struct reading *r, uint32_t from, uint32_t end, uint8_t encoding)
{
    const uint8_t *bytes = r->cfi->copy.bytes;

    if (r->budget < end - from)
        return "so many instructions that they are not looked at any further";
    r->budget -= end - from;
    return cfi_program_refused(bytes + from, bytes + end, width_of(encoding));
}

static const char *judge_entry(struct reading *r, const struct sfb_cfi_fde *fde)
{
    if (!r->known || r->cie_at != fde->cie_offset) {
        r->known = true;
        r->cie_at = fde->cie_offset;
        r->cie_refused = judge_program(r, fde->initial, fde->initial_end, fde->encoding);
    }
    return r->cie_refused ? r->cie_refused
                          : judge_program(r, fde->program, fde->program_end, fde->encoding);
}

/* @return false: no memory */
static bool add_function(struct reading *r, const struct sfb_cfi_fde *fde)
{
    struct cfi *c = r->cfi;

    if (!array_make_room(&c->functions, c->count, &r->capacity, sizeof *c->functions))
        return false;
    c->functions[c->count++] =
        (struct cfi_function){ fde->start, fde->end, *fde, judge_entry(r, fde) };
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct cfi_function *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->fde.offset < y->fde.offset ? -1 : x->fde.offset > y->fde.offset;
}

static bool read_functions(struct cfi *c,
                           void (*corrupt)(void *data, const struct sfb_error *error), void *data)
{
    struct reading r = { .cfi = c, .budget = c->size * LOOKS_PER_BYTE + LOOKS_LEAST };
    struct sfb_error error;
    struct sfb_cfi_fde fde;
    enum sfb_status status;

    while ((status = sfb_eh_frame_walk_next(&c->walk, &fde, &error)) != SFB_END) {
        if (status == SFB_OK && fde.end == fde.start && c->empty_count < CFI_EMPTY_MAX)
            c->empty[c->empty_count++] = fde.start;
        if (status != SFB_OK && corrupt)
            corrupt(data, &error);
        else if (status == SFB_OK && fde.end > fde.start && !add_function(&r, &fde))
            return false;
    }
    if (c->count > 0)
        qsort(c->functions, c->count, sizeof *c->functions, by_start);
    return true;
}

/* ---- the section ---- */

/* @return false: no memory */
static bool copy_section(struct object_copy *out, const struct object *o,
                         const struct object_cfi_place *place)
{
    if (place->section != 0)
        return object_relocate(out, o, place->section);
    *out = (struct object_copy){ .bytes = malloc(place->size), .size = place->size };
    if (out->bytes)
        memcpy(out->bytes, o->image + place->offset, place->size);
    return out->bytes != NULL;
}

bool cfi_open(struct cfi *out, const struct object *object, const struct object_cfi_place *place,
              void (*corrupt)(void *data, const struct sfb_error *error), void *data)
{
    *out = (struct cfi){ .abi = object->abi,
                         .address = place->address,
                         .size = place->size,
                         .budget = COST_LEAST + place->size * COST_PER_BYTE };
    if (!copy_section(&out->copy, object, place))
        return false;
    /* No entry of a section above 4 GiB is read. */
    if (sfb_eh_frame_walk_init(&out->walk, out->copy.bytes, out->size, out->address,
                               (enum sfb_abi)out->abi) == SFB_OK &&
        !read_functions(out, corrupt, data)) {
        cfi_close(out);
        return false;
    }
    return true;
}

void cfi_close(struct cfi *cfi)
{
    object_copy_free(&cfi->copy);
    free(cfi->functions);
    *cfi = (struct cfi){ .abi = 0 };
}

/* ---- rows ---- */

static bool pay(struct cfi_rows *rows)
{
    const struct sfb_cfi_fde *fde = &rows->function->fde;
    const uint64_t cost =
        (uint64_t)(fde->initial_end - fde->initial) + (fde->program_end - fde->program);
    struct cfi *c = rows->cfi;

    if (c->budget < cost)
        return false;
    c->budget -= cost;
    return true;
}

void cfi_rows_open(struct cfi_rows *out, struct cfi *cfi, const struct cfi_function *function,
                   uint64_t start, uint64_t end)
{
    enum sfb_status status;

    out->cfi = cfi;
    out->function = function;
    out->next = start;
    out->end = end;
    out->reason = function->refused;
    if (!out->reason && !pay(out))
        out->reason = "so many rows that they are not followed any further";
    if (out->reason)
        return;
    status = sfb_cfi_rows_init(&out->rows, &cfi->walk.eh, &function->fde, NULL);
    if (status != SFB_OK)
        out->reason = sfb_status_str(status);
}

/* Advances to the row at rows->next. */
static void find_row(struct cfi_rows *rows)
{
    while (!rows->reason && rows->rows.end <= rows->next) {
        const enum sfb_status status = sfb_cfi_rows_next(&rows->rows, NULL);

        if (status != SFB_OK)
            rows->reason = sfb_status_str(status);
    }
}

/* Why no rule can state a part of a row. */
static const char *beyond(const char *part)
{
    if (strcmp(part, "CFA") == 0)
        return "no register and 32-bit offset make the CFA: an expression, or it is not stated";
    return strcmp(part, "RA") == 0 ? "the return address is an expression"
                                   : "fp or sp is an expression";
}

/* Removes differences in notation: how a register is said to be unchanged. */
static void simplify(struct sfb_rule *r, const struct sfb_cfi_fde *fde)
{
    r->flags &= (uint8_t)~SFB_RULE_EH_RETURN;
    if (r->sp.where == SFB_WHERE_IS_CFA && r->sp.offset == 0)
        r->sp = (struct sfb_saved){ .where = SFB_WHERE_UNSAVED };
    if (r->ra.where == SFB_WHERE_IS_REG && r->ra.reg == fde->ra_column && r->ra.offset == 0)
        r->ra = (struct sfb_saved){ .where = SFB_WHERE_UNSAVED };
}

static void read_rule(const struct cfi_rows *rows, struct cfi_row *out)
{
    const struct sfb_cfi_fde *fde = &rows->function->fde;
    const uint8_t abi = rows->cfi->abi;
    struct sfb_error error = { SFB_OK, "", 0 };
    const enum sfb_status status = sfb_cfi_rows_rule(&rows->rows, out->start, &out->rule, &error);

    if (status != SFB_OK && status != SFB_NOT_EXPRESSIBLE) {
        out->reason = sfb_status_str(status);
        return;
    }
    out->answer = CFI_BEYOND;
    if (fde->ra_column != sfb_abi_registers(abi).ra) {
        out->reason = "the return address has a column of its own";
    } else if (status != SFB_OK) {
        out->reason = beyond(error.field);
    } else {
        out->answer = CFI_RULE;
        simplify(&out->rule, fde);
        out->signs_known = abi != SFB_ABI_AMD64_LE && (out->rule.flags & SFB_RULE_OUTERMOST) == 0;
    }
}

bool cfi_rows_next(struct cfi_rows *rows, struct cfi_row *out)
{
    if (rows->next >= rows->end)
        return false;
    *out = (struct cfi_row){ .start = rows->next, .end = rows->end, .answer = CFI_UNREADABLE };
    find_row(rows);
    if (rows->reason) {
        out->reason = rows->reason;
    } else {
        if (rows->rows.end < out->end)
            out->end = rows->rows.end;
        if (rows->rows.varies && pay(rows))
            out->end = out->start + 1;
        read_rule(rows, out);
    }
    rows->next = out->end;
    return true;
}
