/* One entry of .eh_frame, opened, in memory that ends where its instructions do. */
#ifndef SUPPORT_EH_ENTRY_H
#define SUPPORT_EH_ENTRY_H

#include <string.h>

#include "eh_frame/rule.h"
#include "support/eh_frame_bytes.h"
#include "support/guarded.h"
#include "support/test.h"

/* Where its code is, and how much of it: room for an advance of 32 bits. */
#define ENTRY_ADDRESS 0x555555554000u
#define ENTRY_START   (ENTRY_ADDRESS + 0x1000u)
#define ENTRY_SIZE    ((uint64_t)1 << 40)

struct entry {
    struct eh_bytes b;
    struct sfb_eh_frame eh;
    struct sfb_cfi_fde fde;
};

/* Good until the next one is made. */
static inline struct entry entry_of(const struct eh_layout *layout)
{
    static struct guarded g;
    struct entry e = { .b = eh_frame_bytes(layout) };

    if (!g.map)
        g = guarded_new(sizeof e.b.at);
    cr_assert(eq(int, eh_bytes_open(&e.eh, &e.b, guarded_copy(&g, e.b.at, e.b.n), e.b.n), SFB_OK));
    cr_assert(eq(int, sfb_eh_frame_fde(&e.eh, 0, &e.fde, NULL), SFB_OK));
    return e;
}

/* The instructions of the CIE (NULL: the usual ones) and of the entry. */
static inline struct entry entry_with(enum sfb_abi abi, const struct item *initial,
                                      const struct item *program)
{
    const struct eh_function f = { ENTRY_START - ENTRY_ADDRESS, ENTRY_SIZE, program };
    const struct eh_layout l = { .abi = abi,
                                 .address = ENTRY_ADDRESS,
                                 .encoding = ABSPTR,
                                 .initial = initial,
                                 .count = 1,
                                 .functions = &f };

    return entry_of(&l);
}

/* What the machine of a test borrows; there is one at a time. */
static struct sfb_cfi_cell entry_cells[SFB_CFI_CELLS(SFB_CFI_COLUMNS_MAX)];

/* Runs to the row that holds so many bytes behind the start; SFB_END: no row does. */
static inline enum sfb_status entry_run(struct sfb_cfi_machine *m, const struct entry *e,
                                        unsigned columns, uint64_t at)
{
    enum sfb_status status;

    memset(m, 0xa5, sizeof *m);
    status = sfb_cfi_machine_init(m, &e->eh, &e->fde, columns, entry_cells);
    while (status == SFB_OK) {
        status = sfb_cfi_machine_next(m);
        if (status == SFB_OK && e->fde.start + at < m->end) {
            cr_expect(m->start <= e->fde.start + at);
            return SFB_OK;
        }
    }
    return status;
}

/* What is expected of a column. */
struct cell {
    enum sfb_cfi_how how;
    int64_t value; /* offset or register */
};

static inline void expect_cell(const struct sfb_cfi_cell *got, struct cell want, const char *name)
{
    cr_expect(eq(int, got->how, (int)want.how), "%s", name);
    if (want.how == SFB_CFI_REGISTER)
        cr_expect(eq(int, got->reg, (int)want.value), "%s", name);
    else if (want.how == SFB_CFI_OFFSET || want.how == SFB_CFI_VAL_OFFSET)
        cr_expect(eq(i64, got->offset, want.value), "%s", name);
}

#endif
