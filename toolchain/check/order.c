/* Level 2: the table of functions, entry by entry and as a whole. */
#include <inttypes.h>
#include <stdlib.h>

#include <sfb/abi.h>

#include "toolchain/check/check.h"
#include "toolchain/check/where.h"
#include "util/counted.h"

struct finding_place place_of_entry(const struct sframe_part *part,
                                    const struct sframe_entry *entry, enum sframe_field field)
{
    return (struct finding_place){ IN_SFRAME,
                                   sframe_field_at(part, entry, field),
                                   (int64_t)part->first + entry->index,
                                   FINDING_NONE,
                                   true,
                                   entry->start };
}

static bool is_aarch64(const struct sframe_part *p)
{
    return p->abi == SFB_ABI_AARCH64_BE || p->abi == SFB_ABI_AARCH64_LE;
}

static void judge_info(struct check *c, const struct sframe_part *p, struct sframe_entry *e)
{
    const struct finding_place at = place_of_entry(p, e, FIELD_INFO);
    const unsigned type = e->info & FUNCTION_ROW_TYPE;
    const unsigned needed = e->size < 0x100 ? 0 : e->size < 0x10000 ? 1 : 2;

    if (type > ROW_TYPE_MAX) {
        findings_add(c->findings, CODE_ROW_TYPE, at, "type %u", type);
        e->rows_lost = true;
    } else if (type > needed && e->size > 0) {
        findings_add(c->findings, CODE_ROW_TYPE_WIDE, at, "%s, for a function of %" PRIu32,
                     counted(1u << type, "bytes").text, e->size);
    }
    if ((e->info & p->version->info_unused) != 0)
        findings_add(c->findings, CODE_INFO_BITS, at, "info 0x%02x", e->info);
    if (p->version->has_attribute && (e->info2 & ~(unsigned)FUNCTION_TYPE) != 0)
        findings_add(c->findings, CODE_INFO_BITS, place_of_entry(p, e, FIELD_INFO2),
                     "second info byte 0x%02x", e->info2);
    if (p->version->has_attribute && (e->info2 & FUNCTION_TYPE) > FUNCTION_TYPE_FLEX) {
        findings_add(c->findings, CODE_FUNCTION_TYPE, place_of_entry(p, e, FIELD_INFO2), "type %u",
                     e->info2 & FUNCTION_TYPE);
        e->rows_lost = true;
    }
    if ((e->info & FUNCTION_KEY_B) != 0 && !is_aarch64(p))
        findings_add(c->findings, CODE_KEY_ABI, at, "info 0x%02x", e->info);
}

static void judge_repeat(struct check *c, const struct sframe_part *p, const struct sframe_entry *e)
{
    const struct finding_place at = place_of_entry(p, e, FIELD_REPEAT);
    const uint32_t repeat = sframe_repeat(p, e);

    if ((e->info & FUNCTION_PCMASK) == 0) {
        if (e->repeat != 0)
            findings_add(c->findings, CODE_REPEAT_UNUSED, at, "%u", e->repeat);
        return;
    }
    if (is_aarch64(p))
        findings_add(c->findings, CODE_PCMASK_ABI, place_of_entry(p, e, FIELD_INFO), "info 0x%02x",
                     e->info);
    else if (repeat == 0)
        findings_add(c->findings, CODE_REPEAT_ZERO, at, "%s of code",
                     counted(e->size, "bytes").text);
    else if (e->size % repeat != 0)
        findings_add(c->findings, CODE_PCMASK_SIZE, place_of_entry(p, e, FIELD_SIZE),
                     "%s in entries of %" PRIu32, counted(e->size, "bytes").text, repeat);
}

static void judge_row_count(struct check *c, const struct sframe_part *p, struct sframe_entry *e)
{
    const uint64_t first = sframe_first_row(p, e);
    const uint64_t least = (UINT64_C(1) << (e->info & 3)) + 1 + p->version->least_words;

    if (e->row_count == 0 && !e->rows_lost) {
        if (p->version->has_attribute)
            findings_add(c->findings, CODE_OUTERMOST, place_of_entry(p, e, FIELD_ROW_COUNT),
                         (e->info & FUNCTION_SIGNAL) ? "a signal frame" : "no signal frame");
        else
            findings_add(c->findings, CODE_NO_ROWS, place_of_entry(p, e, FIELD_ROW_COUNT),
                         "%s of code", counted(e->size, "bytes").text);
        return;
    }
    if (first >= p->fre_size) {
        findings_add(c->findings, CODE_ROWS_PAST, place_of_entry(p, e, FIELD_ROW_AT),
                     "at 0x%" PRIx64 " of 0x%" PRIx32, first, p->fre_size);
        e->rows_lost = true;
    } else if (!e->rows_lost && e->row_count * least > p->fre_size - first) {
        findings_add(c->findings, CODE_ROWS_TOO_MANY, place_of_entry(p, e, FIELD_ROW_COUNT),
                     "%" PRIu32 " in 0x%" PRIx64 " bytes", e->row_count, p->fre_size - first);
        e->rows_lost = true;
    }
}

static void judge_entry(struct check *c, const struct sframe_part *p, struct sframe_entry *e)
{
    judge_info(c, p, e);
    judge_repeat(c, p, e);
    judge_row_count(c, p, e);
    if (e->size == 0)
        findings_add(c->findings, CODE_SIZE_ZERO, place_of_entry(p, e, FIELD_SIZE), "at %s",
                     where_address(c->object, e->start).text);
    if (e->padding != 0)
        findings_add(c->findings, CODE_PADDING, place_of_entry(p, e, FIELD_PADDING), "0x%04x",
                     e->padding);
}

/* Whether starts are meaningful: in a raw section of an object file all are zero. */
static bool have_starts(struct check *c, const struct sframe_part *p)
{
    for (uint32_t i = 0; i < p->fde_count; i++)
        if (p->entries[i].raw_start != 0)
            return true;
    if (p->fde_count > 1)
        findings_add(c->findings, CODE_ALL_ONE_START,
                     place_of_entry(p, &p->entries[0], FIELD_START), "%s",
                     counted(p->fde_count, "functions").text);
    return false;
}

static void judge_sorting(struct check *c, const struct sframe_part *p)
{
    const bool said = (p->flags & SFRAME_SORTED) != 0;
    const bool linked = !c->object || !c->object->relocatable;
    const struct finding_place flags = in_sframe(p->offset + AT_HEADER_FLAGS);
    bool sorted = true;

    if (said && !linked && !p->version->always_pcrel)
        findings_add(c->findings, CODE_OBJECT_SORTED, flags, "flags 0x%x", p->flags);
    for (uint32_t i = 1; i < p->fde_count; i++) {
        /* As a search sees it: a start may lie before the section. */
        const uint64_t before = p->entries[i - 1].start - p->address;
        const uint64_t start = p->entries[i].start - p->address;

        if ((int64_t)start >= (int64_t)before || fix_is(p->fix, FIX_ANY_ORDER) ||
            fix_is(p->fix, FIX_TWICE))
            continue;
        sorted = false;
        if (said && linked)
            findings_add(c->findings, CODE_NOT_SORTED,
                         place_of_entry(p, &p->entries[i], FIELD_START), "%s behind %s",
                         where_address(c->object, p->entries[i].start).text,
                         where_address(c->object, p->entries[i - 1].start).text);
    }
    if (said || !linked || p->fde_count == 0)
        return;
    if (sorted)
        findings_add(c->findings, CODE_SORTED_UNSAID, flags, "%s",
                     counted(p->fde_count, "functions").text);
    else
        findings_add(c->findings, CODE_UNSORTED, flags, "%s",
                     counted(p->fde_count, "functions").text);
}

static int by_start(const void *a, const void *b)
{
    const struct check_function *x = a, *y = b;

    if (x->entry->start != y->entry->start)
        return x->entry->start < y->entry->start ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->entry->index < y->entry->index ? -1 : x->entry->index > y->entry->index;
}

struct check_function *check_functions_sorted(const struct check *c, size_t *count)
{
    struct check_function *all;
    size_t n = 0;

    for (size_t i = 0; i < c->part_count; i++)
        n += c->parts[i].fde_count;
    *count = n;
    all = n > 0 ? calloc(n, sizeof *all) : NULL;
    if (!all)
        return NULL;
    n = 0;
    for (size_t i = 0; i < c->part_count; i++)
        for (uint32_t k = 0; k < c->parts[i].fde_count; k++)
            all[n++] = (struct check_function){ &c->parts[i], &c->parts[i].entries[k] };
    qsort(all, n, sizeof *all, by_start);
    return all;
}

static void judge_overlaps(struct check *c)
{
    const struct check_function *last = NULL; /* of those so far, the one that ends last */
    size_t count;
    struct check_function *all = check_functions_sorted(c, &count);

    c->no_memory |= count > 0 && !all;
    for (size_t i = 0; all && i < count; i++) {
        const struct sframe_entry *e = all[i].entry, *before = last ? last->entry : NULL;

        if (e->size == 0)
            continue;
        if (before && fix_is(all[i].part->fix, FIX_TWICE) && before->start == e->start &&
            before->size == e->size)
            continue;
        if (before && before->start == e->start)
            findings_add(c->findings, CODE_DUPLICATE, place_of_entry(all[i].part, e, FIELD_START),
                         "%s, as FDE %" PRIu32, where_address(c->object, e->start).text,
                         last->part->first + before->index);
        else if (before && e->start - before->start < before->size)
            findings_add(c->findings, CODE_OVERLAP, place_of_entry(all[i].part, e, FIELD_START),
                         "%s, and FDE %" PRIu32 " is %s and 0x%" PRIx32 " bytes",
                         where_address(c->object, e->start).text, last->part->first + before->index,
                         where_address(c->object, before->start).text, before->size);
        if (!before || e->start + e->size >= before->start + before->size)
            last = &all[i];
    }
    free(all);
}

void check_order(struct check *c)
{
    bool starts = true;

    for (size_t i = 0; i < c->part_count; i++) {
        struct sframe_part *p = &c->parts[i];

        for (uint32_t k = 0; k < p->fde_count; k++)
            judge_entry(c, p, &p->entries[k]);
        if (c->object || have_starts(c, p))
            judge_sorting(c, p);
        else
            starts = false;
    }
    if (starts)
        judge_overlaps(c);
}
