/*
 * Any bytes as one or two segments with .eh_frame_hdr and .eh_frame in them: nothing may be read
 * outside of them, and what is found must be true.
 *
 * Input, 12 or 16 bytes and the segments with what lies between them; little-endian:
 *
 *     u8 ABI (modulo 3), u8 two segments if not 0, u16 offset of .eh_frame_hdr, u64 address
 *     u16 end of the first segment, u16 bytes from there to the second; where there are two
 *
 * Bytes between the two segments are the hole: with AddressSanitizer a read of them is found, and
 * elsewhere they are none of the input's. pcs to look up are drawn from the entries that were read,
 * and from the same bytes, so that the fuzzer can steer them.
 */
#include <string.h>

#include "base/load.h"
#include "eh_frame/entry.h"
#include "eh_frame/rule.h"
#include "fuzz.h"
#include "sfb/eh_frame.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

/* Enough for real sections, and few enough for many inputs a second. */
enum { PREFIX = 12, HOLE = 4, ENTRIES = 128, ROWS = 64, WORDS = 256, LOOKUPS_MAX = 1024 };

static unsigned lookups;

/* Of two segments: the same bytes as one, with no hole. Else NULL. */
static const struct sfb_eh_frame *without_hole;

static bool same_rule(const struct sfb_rule *a, const struct sfb_rule *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void check_rule(const struct sfb_rule *r)
{
    FUZZ_CHECK(r->cfa_base <= SFB_BASE_REG && r->ra.where <= SFB_WHERE_IS_REG);
    FUZZ_CHECK(r->fp.where <= SFB_WHERE_IS_REG && r->sp.where <= SFB_WHERE_IS_REG);
    FUZZ_CHECK(r->zero == 0 && r->zeros[0] == 0 && r->zeros[1] == 0);
    if (r->cfa_base == SFB_BASE_REG || (r->flags & SFB_RULE_CFA_DEREF) ||
        r->ra.where > SFB_WHERE_CFA || r->fp.where > SFB_WHERE_CFA ||
        r->sp.where != SFB_WHERE_UNSAVED)
        FUZZ_CHECK(r->flags & SFB_RULE_ANY_REGISTER);
    if (r->flags & SFB_RULE_OUTERMOST)
        FUZZ_CHECK((r->flags & ~(SFB_RULE_OUTERMOST | SFB_RULE_SIGNAL)) == 0);
}

static bool in_hole(const struct sfb_eh_frame *eh, uint32_t from, uint32_t end)
{
    return from < eh->gap_end && end > eh->gap;
}

static void check_fde(const struct sfb_eh_frame *eh, const struct sfb_cfi_fde *fde)
{
    struct sfb_cfi_fde same;

    FUZZ_CHECK(fde->start <= fde->end);
    FUZZ_CHECK(fde->cie_offset < eh->size && fde->offset < fde->program);
    FUZZ_CHECK(fde->initial <= fde->initial_end && fde->initial_end <= eh->size);
    FUZZ_CHECK(fde->program <= fde->program_end && fde->program_end <= eh->size);
    FUZZ_CHECK(fde->ra_column <= 127 && fde->data_align <= INT32_MAX);
    FUZZ_CHECK(!in_hole(eh, fde->cie_offset, fde->initial_end));
    FUZZ_CHECK(!in_hole(eh, fde->offset, fde->program_end));
    if (without_hole)
        FUZZ_CHECK(sfb_cfi_fde_read(&same, without_hole, fde->offset, NULL) == SFB_OK &&
                   same.start == fde->start && same.end == fde->end &&
                   same.initial == fde->initial && same.initial_end == fde->initial_end &&
                   same.program == fde->program && same.program_end == fde->program_end);
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
        if (without_hole)
            FUZZ_CHECK(sfb_eh_frame_find(without_hole, pc, &again, NULL) == SFB_OK &&
                       same_rule(out, &again));
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
    static struct sfb_cfi_cell cells[SFB_CFI_CELLS(SFB_CFI_COLUMNS_MAX)];
    static struct sfb_cfi_machine all;
    static struct sfb_cfi_rows rows;
    enum sfb_status status = sfb_cfi_rows_init(&rows, eh, fde, NULL);
    uint64_t at = fde->start;

    FUZZ_CHECK(sfb_cfi_machine_init(&all, eh, fde, SFB_CFI_COLUMNS_MAX, cells) == status);
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

        status = sfb_cfi_rows_rule(&rows, rows.start, &rule, NULL);
        FUZZ_CHECK(sfb_cfi_row_rule(&of_all, &all, rows.start) == status);
        if (status == SFB_OK)
            FUZZ_CHECK(same_rule(&rule, &of_all));
        if (status == SFB_OK && !rows.varies)
            FUZZ_CHECK(sfb_cfi_rows_rule(&rows, rows.end - 1, &of_all, NULL) == SFB_OK &&
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

/* Opens the segment with the header, and adds the other one. They end at gap and begin at gap_end.
 */
static enum sfb_status open_two(struct sfb_eh_frame *out, const uint8_t *data, size_t size,
                                size_t gap, size_t gap_end, uint64_t address, uint64_t hdr,
                                enum sfb_abi abi, struct sfb_error *error)
{
    const bool hdr_first = hdr - address < gap_end;
    const size_t from = hdr_first ? 0 : gap_end, end = hdr_first ? gap : size;
    const size_t other = hdr_first ? gap_end : 0, other_end = hdr_first ? size : gap;
    struct sfb_eh_frame before;
    enum sfb_status status =
        sfb_eh_frame_open(out, data + from, end - from, address + from, hdr, abi, error);

    if (status != SFB_OK)
        return status;
    before = *out;
    status = sfb_eh_frame_extend(out, data + other, other_end - other, address + other);
    if (status != SFB_OK) {
        /* They lie at both ends of the address space, or where the second is the first is not. */
        FUZZ_CHECK(address + gap_end < address || gap_end == 0);
        FUZZ_CHECK(memcmp(&before, out, sizeof before) == 0);
        *error = (struct sfb_error){ status, "", 0 };
        return status;
    }
    FUZZ_CHECK(out->data == data && out->address == address);
    FUZZ_CHECK(gap < gap_end ? out->gap == gap && out->gap_end == gap_end
                             : out->gap == 0 && out->gap_end == 0);
    FUZZ_CHECK(out->frames == before.frames && out->count == before.count);
    before = *out;
    FUZZ_CHECK(sfb_eh_frame_extend(out, data + other, other_end - other, address + other) ==
                   SFB_BAD_ARGUMENT ||
               (gap == gap_end && other == other_end));
    FUZZ_CHECK(memcmp(&before, out, sizeof before) == 0);
    return SFB_OK;
}

/* Everything that can be asked of a view; words to draw pcs from. */
static void ask(const struct sfb_eh_frame *eh, const uint8_t *words, size_t size)
{
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct sfb_cfi_fde fde;
    struct sfb_rule rule;
    enum sfb_status status;

    FUZZ_CHECK(eh->size == size && eh->table >= eh->hdr);
    FUZZ_CHECK(eh->table + (uint64_t)eh->count * 8 <= size);
    FUZZ_CHECK(!in_hole(eh, eh->hdr, eh->table + eh->count * 8));
    FUZZ_CHECK(sfb_eh_frame_fde(eh, eh->count, &fde, NULL) == SFB_BAD_ARGUMENT);

    for (uint32_t i = 0; i < eh->count && i < ENTRIES; i++) {
        status = sfb_eh_frame_fde(eh, i, &fde, &error);
        if (status != SFB_OK) {
            FUZZ_CHECK(error.status == status && error.field != NULL && error.offset <= size);
            continue;
        }
        check_fde(eh, &fde);
        look_up(eh, fde.start - 1, &rule);
        look_up(eh, fde.end - 1, &rule);
        look_up(eh, fde.end, &rule);
        read_rows(eh, &fde);
    }
    for (size_t i = 0; i < WORDS && (i + 1) * 4 <= size; i++)
        look_up(eh,
                eh->address + eh->hdr + (uint64_t)(int64_t)sfb_load_i32(words + i * 4, eh->swap),
                &rule);
}

static void ask_two(const uint8_t *data, size_t size, size_t gap, size_t gap_end, uint64_t address,
                    uint64_t hdr, enum sfb_abi abi)
{
    /* Poison begins at any byte, but what comes behind it begins at a multiple of 8. */
    const size_t shift = (0 - gap_end) % 8;
    struct sfb_error error = { SFB_OK, NULL, 0 };
    uint8_t *block = malloc(shift + size + 1), *at = block + shift;
    struct sfb_eh_frame eh, one;
    enum sfb_status status;

    FUZZ_CHECK(block != NULL);
    memcpy(at, data, size);
    memset(at + gap, 0xff, gap_end - gap);
    ASAN_POISON_MEMORY_REGION(at + gap, gap_end - gap);
    ASAN_POISON_MEMORY_REGION(at + size, 1);
    status = open_two(&eh, at, size, gap, gap_end, address, hdr, abi, &error);
    if (status == SFB_OK) {
        FUZZ_CHECK(sfb_eh_frame_open(&one, data, size, address, hdr, abi, NULL) == SFB_OK);
        FUZZ_CHECK(one.hdr == eh.hdr && one.table == eh.table && one.count == eh.count);
        without_hole = &one;
        ask(&eh, data, size);
        without_hole = NULL;
    } else {
        FUZZ_CHECK(status == SFB_BAD_ARGUMENT || (error.status == status && error.field != NULL));
    }
    ASAN_UNPOISON_MEMORY_REGION(block, shift + size + 1);
    free(block);
}

/* The same bytes as a section without a table. */
static void walk_all(const uint8_t *data, size_t size, uint64_t address, enum sfb_abi abi)
{
    static struct sfb_eh_frame_walk walk;
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct sfb_cfi_fde fde = { .start = 0 };
    enum sfb_status status;
    uint32_t at = 0;

    FUZZ_CHECK(sfb_eh_frame_walk_init(&walk, data, size, address, abi) == SFB_OK);
    for (unsigned n = 0; (status = sfb_eh_frame_walk_next(&walk, &fde, &error)) != SFB_END; n++) {
        FUZZ_CHECK(walk.next > at && walk.next <= size);
        if (status == SFB_OK) {
            FUZZ_CHECK(fde.offset >= at && fde.program_end == walk.next);
            check_fde(&walk.eh, &fde);
            if (n < ENTRIES)
                read_rows(&walk.eh, &fde);
        } else {
            FUZZ_CHECK(error.status == status && error.field != NULL && error.offset <= size);
        }
        at = walk.next;
    }
    FUZZ_CHECK(sfb_eh_frame_find(&walk.eh, fde.start, &(struct sfb_rule){ 0 }, NULL) == SFB_NO_CFI);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct sfb_eh_frame eh;
    uint64_t address, hdr;
    size_t gap, gap_end;
    enum sfb_status status;
    enum sfb_abi abi;
    bool two;

    if (size < PREFIX || (data[1] != 0 && size < PREFIX + HOLE))
        return 0;
    abi = (enum sfb_abi)(SFB_ABI_AARCH64_BE + data[0] % 3);
    two = data[1] != 0;
    address = number(data + 4, 8);
    hdr = address + number(data + 2, 2);
    gap = two ? number(data + PREFIX, 2) : 0;
    gap_end = two ? gap + number(data + PREFIX + 2, 2) : 0;
    data += two ? PREFIX + HOLE : PREFIX;
    size -= two ? PREFIX + HOLE : PREFIX;
    lookups = 0;

    if (two) {
        gap = gap < size ? gap : size;
        gap_end = gap_end < size ? gap_end : size;
        ask_two(data, size, gap, gap_end, address, hdr, abi);
        return 0;
    }
    walk_all(data, size, address, abi);
    status = sfb_eh_frame_open(&eh, data, size, address, hdr, abi, &error);
    if (status != SFB_OK) {
        FUZZ_CHECK(status == SFB_BAD_ARGUMENT || (error.status == status && error.field != NULL));
        return 0;
    }
    FUZZ_CHECK(eh.data == data && eh.address == address && eh.hdr == hdr - address);
    ask(&eh, data, size);
    return 0;
}
