/*
 * Any bytes as a segment with .eh_frame_hdr and .eh_frame in it: nothing may be read outside of
 * them, and what is found must be true.
 *
 * Input, 12 bytes and the segment:
 *
 *     u8 ABI (modulo 3), u8 unused, u16 offset of .eh_frame_hdr, u64 address; little-endian
 *
 * pcs to look up are drawn from the entries that were read, and from the same bytes, so that the
 * fuzzer can steer them.
 */
#include <string.h>

#include "base/load.h"
#include "eh_frame/program.h"
#include "fuzz.h"
#include "sfb/eh_frame.h"

/* Enough for real sections, and few enough for many inputs a second. */
enum { PREFIX = 12, ENTRIES = 128, ROWS = 64, WORDS = 256, LOOKUPS_MAX = 1024 };

static unsigned lookups;

static bool same_rule(const struct sfb_rule *a, const struct sfb_rule *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void check_rule(const struct sfb_rule *r)
{
    FUZZ_CHECK(r->cfa_base <= SFB_BASE_REG && r->ra_where <= SFB_WHERE_IS_REG);
    FUZZ_CHECK(r->fp_where <= SFB_WHERE_IS_REG && r->sp_where <= SFB_WHERE_IS_REG);
    FUZZ_CHECK(r->zero[0] == 0 && r->zero[1] == 0 && r->zero[2] == 0);
    if (r->cfa_base == SFB_BASE_REG || (r->flags & SFB_RULE_CFA_DEREF) ||
        r->ra_where > SFB_WHERE_CFA || r->fp_where > SFB_WHERE_CFA || r->sp_where != SFB_WHERE_SAME)
        FUZZ_CHECK(r->flags & SFB_RULE_GENERAL);
    if (r->flags & SFB_RULE_OUTERMOST)
        FUZZ_CHECK((r->flags & ~(SFB_RULE_OUTERMOST | SFB_RULE_SIGNAL)) == 0);
}

static void check_fde(const struct sfb_eh_frame *eh, const struct sfb_cfi_fde *fde)
{
    FUZZ_CHECK(fde->start <= fde->end);
    FUZZ_CHECK(fde->cie_offset < eh->size && fde->offset < fde->program);
    FUZZ_CHECK(fde->initial <= fde->initial_end && fde->initial_end <= eh->size);
    FUZZ_CHECK(fde->program <= fde->program_end && fde->program_end <= eh->size);
    FUZZ_CHECK(fde->ra_column <= 127 && fde->data_align <= INT32_MAX);
}

/* One answer, given twice, with a reason if it is none. */
static enum sfb_status look_up(const struct sfb_eh_frame *eh, uint64_t pc, struct sfb_rule *out)
{
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct sfb_rule again;
    struct sfb_cfi_fde fde;
    enum sfb_status status, entry;

    if (++lookups > LOOKUPS_MAX)
        return SFB_NO_CFI;
    status = sfb_eh_frame_find(eh, pc, out, &error);
    entry = sfb_eh_frame_fde_find(eh, pc, &fde, NULL);
    FUZZ_CHECK(sfb_eh_frame_find(eh, pc, &again, NULL) == status);
    if (entry != SFB_OK)
        FUZZ_CHECK(status == entry);
    else
        FUZZ_CHECK(pc >= fde.start && pc < fde.end && status != SFB_NO_CFI);
    if (status == SFB_OK) {
        FUZZ_CHECK(same_rule(out, &again));
        check_rule(out);
    } else if (status != SFB_NO_CFI) {
        FUZZ_CHECK(status == SFB_TRUNCATED || status == SFB_BAD_CFI ||
                   status == SFB_NOT_EXPRESSIBLE);
        FUZZ_CHECK(error.status == status && error.field != NULL && error.offset <= eh->size);
    }
    return status;
}

/* Whether the search gives this very entry for a pc. */
static bool is_found(const struct sfb_eh_frame *eh, uint64_t pc, uint32_t offset)
{
    struct sfb_cfi_fde fde;

    return sfb_eh_frame_fde_find(eh, pc, &fde, NULL) == SFB_OK && fde.offset == offset;
}

/*
 * Rows follow each other from start to end; how many columns are followed makes no difference to
 * the rule; and the search says the same.
 */
static void read_rows(const struct sfb_eh_frame *eh, const struct sfb_cfi_fde *fde)
{
    static struct sfb_cfi_machine all;
    static struct sfb_cfi_rows rows;
    enum sfb_status status = sfb_cfi_rows_init(&rows, eh, fde, NULL);
    uint64_t at = fde->start;

    FUZZ_CHECK(sfb_cfi_machine_init(&all, eh, fde, SFB_CFI_COLUMNS_MAX) == status);
    if (status != SFB_OK)
        return;
    for (unsigned i = 0; i < ROWS; i++) {
        struct sfb_rule rule, of_all, found;

        status = sfb_cfi_rows_next(&rows, NULL);
        FUZZ_CHECK(sfb_cfi_machine_next(&all) == status);
        if (status != SFB_OK) {
            FUZZ_CHECK(status != SFB_END || at == fde->end);
            return;
        }
        FUZZ_CHECK(rows.start == at && rows.start < rows.end && rows.end <= fde->end);
        FUZZ_CHECK(all.start == rows.start && all.end == rows.end);
        at = rows.end;

        status = sfb_cfi_rows_rule(&rows, rows.start, &rule);
        FUZZ_CHECK(sfb_cfi_row_rule(&of_all, &all, rows.start) == status);
        if (status == SFB_OK)
            FUZZ_CHECK(same_rule(&rule, &of_all));
        if (status == SFB_OK && !rows.varies)
            FUZZ_CHECK(sfb_cfi_rows_rule(&rows, rows.end - 1, &of_all) == SFB_OK &&
                       same_rule(&rule, &of_all));
        if (lookups < LOOKUPS_MAX && is_found(eh, rows.start, fde->offset)) {
            FUZZ_CHECK(look_up(eh, rows.start, &found) == status);
            if (status == SFB_OK)
                FUZZ_CHECK(same_rule(&rule, &found));
        }
    }
}

static uint64_t number(const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | at[size];
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct sfb_eh_frame eh;
    struct sfb_cfi_fde fde;
    struct sfb_rule rule;
    uint64_t address, hdr;
    enum sfb_status status;
    enum sfb_abi abi;

    if (size < PREFIX)
        return 0;
    abi = (enum sfb_abi)(SFB_ABI_AARCH64_BE + data[0] % 3);
    address = number(data + 4, 8);
    hdr = address + number(data + 2, 2);
    data += PREFIX;
    size -= PREFIX;
    lookups = 0;

    status = sfb_eh_frame_open(&eh, data, size, address, hdr, abi, &error);
    if (status != SFB_OK) {
        FUZZ_CHECK(status == SFB_BAD_ARGUMENT || (error.status == status && error.field != NULL));
        return 0;
    }
    FUZZ_CHECK(eh.size == size && eh.hdr == hdr - address && eh.table >= eh.hdr);
    FUZZ_CHECK(eh.table + (uint64_t)eh.count * 8 <= size);
    FUZZ_CHECK(sfb_eh_frame_fde(&eh, eh.count, &fde, NULL) == SFB_BAD_ARGUMENT);

    for (uint32_t i = 0; i < eh.count && i < ENTRIES; i++) {
        status = sfb_eh_frame_fde(&eh, i, &fde, &error);
        if (status != SFB_OK) {
            FUZZ_CHECK(error.status == status && error.field != NULL && error.offset <= size);
            continue;
        }
        check_fde(&eh, &fde);
        look_up(&eh, fde.start - 1, &rule);
        look_up(&eh, fde.end - 1, &rule);
        look_up(&eh, fde.end, &rule);
        read_rows(&eh, &fde);
    }
    for (size_t i = 0; i < WORDS && (i + 1) * 4 <= size; i++)
        look_up(&eh, hdr + (uint64_t)(int64_t)sfb_load_i32(data + i * 4, eh.swap), &rule);
    return 0;
}
