/*
 * Level 2: the rows of every function, and the owner of each byte of the FRE sub-section.
 *
 * Two bits a byte say whether it belongs to a row, and whether one begins there. Functions may
 * share whole rows. A row that overlaps another one partly is a fault.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <sfb/abi.h>

#include "symbols/eh_frame.h"
#include "toolchain/check/bytes.h"
#include "toolchain/check/check.h"
#include "util/counted.h"

/*
 * Rows read, for each byte of the sub-section. sfb synth shares rows three or four times; a section
 * with the same million rows for all functions is an attack.
 */
enum { VISITS_PER_BYTE = 64, VISITS_LEAST = 0x10000 };

struct ledger {
    uint8_t *owned, *begins; /* a bit for each byte */
    uint64_t rows;           /* with distinct starts */
    uint64_t visits;         /* that may still be read */
};

/* What later rows are compared with. */
struct sequence {
    uint32_t row, start;
};

static bool get_bit(const uint8_t *bits, uint64_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void set_bit(uint8_t *bits, uint64_t i)
{
    bits[i / 8] |= (uint8_t)(1u << i % 8);
}

struct finding_place place_of_row(const struct sframe_part *part, const struct sframe_entry *entry,
                                  uint32_t row, uint64_t position)
{
    const uint64_t start_size = UINT64_C(1) << (entry->info & 3);
    uint64_t start = 0; /* for an unreadable row the place is its function */

    if ((entry->info & 3) <= ROW_TYPE_MAX && position + start_size <= part->fre_size)
        start = bytes_load(part->data + part->fre_at + position, start_size, part->big);
    if (start >= entry->size)
        start = 0;
    return (struct finding_place){
        IN_SFRAME, sframe_fre_at(part, position), (int64_t)part->first + entry->index, row,
        true,      entry->start + start
    };
}

/* Marks [at, at + size) as a row, or an attribute. @return whether it fits the others */
static bool claim(struct ledger *l, uint64_t at, uint64_t size)
{
    bool good = !get_bit(l->owned, at) || get_bit(l->begins, at);

    for (uint64_t i = at + 1; i < at + size; i++)
        good &= !get_bit(l->begins, i);
    if (get_bit(l->begins, at))
        return good;
    set_bit(l->begins, at);
    for (uint64_t i = at; i < at + size; i++)
        set_bit(l->owned, i);
    return good;
}

/* The place of a numbered offset in a row. */
static struct finding_place place_of_word(const struct sframe_part *p, const struct sframe_entry *e,
                                          uint32_t row, const struct sframe_row *r, unsigned word)
{
    const uint32_t words = r->size - ((uint32_t)r->count << r->width);

    struct finding_place at = place_of_row(p, e, row, r->at);

    at.offset += words + ((uint64_t)word << r->width);
    return at;
}

static struct finding_place place_of_info(const struct sframe_part *p, const struct sframe_entry *e,
                                          uint32_t row, uint64_t position)
{
    struct finding_place at = place_of_row(p, e, row, position);

    at.offset += UINT64_C(1) << (e->info & 3);
    return at;
}

static void judge_start(struct check *c, const struct sframe_part *p, const struct sframe_entry *e,
                        struct sequence *before, const struct sframe_row *r)
{
    const struct finding_place at = place_of_row(p, e, before->row, r->at);
    const uint32_t repeat = sframe_repeat(p, e);

    if (before->row == 0 && r->start != 0)
        findings_add(c->findings, CODE_FIRST_ROW, at, "it starts at 0x%" PRIx32, r->start);
    if (before->row > 0 && r->start < before->start)
        findings_add(c->findings, CODE_ROWS_DESCEND, at, "0x%" PRIx32 " behind 0x%" PRIx32,
                     r->start, before->start);
    else if (before->row > 0 && r->start == before->start)
        findings_add(c->findings, CODE_ROWS_EQUAL, at, "both at 0x%" PRIx32, r->start);
    if (repeat != 0 && r->start >= repeat)
        findings_add(c->findings, CODE_PCMASK_ROW, at, "at 0x%" PRIx32 " of 0x%" PRIx32, r->start,
                     repeat);
    else if (r->start >= e->size && e->size > 0)
        findings_add(c->findings, CODE_ROW_AFTER_END, at,
                     "row starts at 0x%" PRIx32 ", after the function's end (size 0x%" PRIx32 ")",
                     r->start, e->size);
    before->start = r->start;
}

/* @return whether the words can be decoded */
static bool judge_info(struct check *c, const struct sframe_part *p, const struct sframe_entry *e,
                       uint32_t row, const struct sframe_row *r)
{
    const struct finding_place at = place_of_info(p, e, row, r->at);
    struct sfb_rule rule;
    const char *cause = sframe_row_rule(&rule, p, e, r);

    if ((r->info & ROW_MANGLED) != 0 && p->abi != SFB_ABI_AARCH64_LE &&
        p->abi != SFB_ABI_AARCH64_BE)
        findings_add(c->findings, CODE_MANGLED_ABI, at, "info 0x%02x", r->info);
    if (!cause)
        return true;
    if (sframe_is_flex(e))
        findings_add(c->findings, CODE_FLEX, at, "%s: %s", counted(r->count, "words").text, cause);
    else
        findings_add(c->findings, CODE_OFFSET_COUNT, at, "%u: %s", r->count, cause);
    return false;
}

static void judge_cfa(struct check *c, const struct sframe_part *p, const struct sframe_entry *e,
                      uint32_t row, const struct sframe_row *r)
{
    const struct finding_place at = place_of_word(p, e, row, r, 0);
    const bool amd64 = p->abi == SFB_ABI_AMD64_LE, sp = (r->info & ROW_BASE_SP) != 0;
    const int32_t least = amd64 ? 8 : 0, unit = !amd64 && sp ? 16 : 8;

    if (sp && r->word[0] < least)
        findings_add(c->findings, CODE_CFA_BELOW, at, "CFA = sp%+" PRId32, r->word[0]);
    else if (r->word[0] % unit != 0 && !c->compares)
        findings_add(c->findings, CODE_CFA_UNALIGNED, at, "CFA = %s%+" PRId32, sp ? "sp" : "fp",
                     r->word[0]);
    if (amd64 && (e->info & FUNCTION_PCMASK) != 0 && row == 0 && (!sp || r->word[0] != 8))
        findings_add(c->findings, CODE_PCMASK_FIRST, at, "CFA = %s%+" PRId32, sp ? "sp" : "fp",
                     r->word[0]);
}

static void judge_slots(struct check *c, const struct sframe_part *p, const struct sframe_entry *e,
                        uint32_t row, const struct sframe_row *r)
{
    int32_t ra = p->fixed_ra;

    for (unsigned i = 1; i < r->count; i++) {
        const struct finding_place at = place_of_word(p, e, row, r, i);
        const bool is_fp = i == 2 || p->fixed_ra != 0;
        const bool odd = r->word[i] >= 0 || r->word[i] % 8 != 0;

        /* .eh_frame decides: glibc's resolver on AArch64 has RA above the CFA. */
        if (odd && !c->compares)
            findings_add(c->findings, CODE_SLOT, at, "%s at CFA%+" PRId32, is_fp ? "FP" : "RA",
                         r->word[i]);
        else if (!odd && is_fp && r->word[i] == ra)
            findings_add(c->findings, CODE_SAME_SLOT, at, "both at CFA%+" PRId32, ra);
        ra = is_fp ? ra : r->word[i];
    }
}

static void judge_row(struct check *c, const struct sframe_part *p, const struct sframe_entry *e,
                      struct sequence *before, const struct sframe_row *r)
{
    judge_start(c, p, e, before, r);
    if (!judge_info(c, p, e, before->row, r) || r->count == 0 || sframe_is_flex(e) ||
        p->abi == SFRAME_ABI_S390X)
        return;
    judge_cfa(c, p, e, before->row, r);
    judge_slots(c, p, e, before->row, r);
}

/* @return whether the row could be read */
static bool read_row(struct check *c, struct sframe_row *r, const struct sframe_part *p,
                     const struct sframe_entry *e, uint32_t row, uint64_t position)
{
    switch (sframe_row_read(r, p, e, position)) {
    case ROW_READ: return true;
    case ROW_CUT:
        findings_add(c->findings, CODE_ROW_CUT, place_of_row(p, e, row, position),
                     "the table ends at .sframe+0x%" PRIx64, sframe_fre_at(p, p->fre_size));
        return false;
    case ROW_UNKNOWN_WIDTH:
        findings_add(c->findings, CODE_OFFSET_SIZE, place_of_info(p, e, row, position),
                     "info 0x%02x", r->info);
        return false;
    }
    return false;
}

/* @return false: the limit of rows is used up */
static bool judge_function(struct check *c, struct ledger *l, const struct sframe_part *p,
                           struct sframe_entry *e)
{
    const uint32_t attribute = sframe_attribute_size(p->version);
    uint64_t position = sframe_first_row(p, e);
    struct sequence before = { 0, 0 };
    bool torn = false;

    if (!e->rows_lost && attribute > 0)
        torn = !claim(l, e->row_at, attribute);
    for (; before.row < e->row_count && !e->rows_lost; before.row++) {
        struct sframe_row r;

        if (l->visits == 0)
            return false;
        l->visits--;
        if (!read_row(c, &r, p, e, before.row, position)) {
            e->rows_lost = true;
            return true;
        }
        l->rows += !get_bit(l->begins, position);
        if (!claim(l, position, r.size) && !torn) {
            torn = true;
            findings_add(c->findings, CODE_ROWS_TORN, place_of_row(p, e, before.row, position),
                         "other rows begin within this one, or this one within another");
        }
        judge_row(c, p, e, &before, &r);
        position += r.size;
    }
    return true;
}

static void judge_owners(struct check *c, const struct ledger *l, const struct sframe_part *p)
{
    for (uint64_t i = 0; i < p->fre_size; i++) {
        const uint64_t start = i;

        while (i < p->fre_size && !get_bit(l->owned, i))
            i++;
        if (i > start)
            findings_add(c->findings, CODE_UNOWNED, in_sframe(sframe_fre_at(p, start)), "%s",
                         counted(i - start, "bytes").text);
    }
}

static void judge_part(struct check *c, struct ledger *l, struct sframe_part *p)
{
    bool lost = false;

    for (uint32_t i = 0; i < p->fde_count && !findings_are_enough(c->findings); i++) {
        struct sframe_entry *e = &p->entries[i];

        if (!judge_function(c, l, p, e)) {
            findings_add(c->findings, CODE_TOO_SHARED, place_of_entry(p, e, FIELD_ROW_COUNT), "%s",
                         counted(e->row_count, "rows").text);
            while (i < p->fde_count)
                p->entries[i++].rows_lost = true;
            return;
        }
        lost |= e->rows_lost;
    }
    c->result->rows += l->rows;
    if (lost || fix_is(p->fix, FIX_LOST))
        return; /* the owners are unknown, or known */
    judge_owners(c, l, p);
    if (l->rows != p->fre_count)
        findings_add(c->findings, CODE_ROW_TOTAL, in_sframe(p->offset + AT_HEADER_FRES),
                     "%" PRIu32 ", and the functions own %" PRIu64, p->fre_count, l->rows);
}

void check_rows(struct check *c)
{
    c->compares =
        c->object && !c->options->no_cfi && object_find_cfi(c->object).result == OBJECT_CFI_FOUND;
    for (size_t i = 0; i < c->part_count; i++) {
        struct sframe_part *p = &c->parts[i];
        struct ledger l = { .visits = (uint64_t)p->fre_size * VISITS_PER_BYTE + VISITS_LEAST };

        l.owned = calloc(p->fre_size / 8 + 1, 1);
        l.begins = calloc(p->fre_size / 8 + 1, 1);
        if (l.owned && l.begins)
            judge_part(c, &l, p);
        else
            c->no_memory = true;
        free(l.owned);
        free(l.begins);
    }
}
