/* Rules by which entries get a wrong start or size. */
#include "symbols/code_ranges.h"
#include "toolchain/check/cause_pairs.h"
#include "toolchain/check/difference.h"

/* Bytes in front of a function that may be nops; functions with the same rows that are compared; ranges
 * of code that are looked at on each side. */
enum { PREFIX_MOST = 64, TWINS_MOST = 64, RANGES_MOST = 256 };

bool pair_is_of(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f)
{
    return f->end - f->start == p->function.entry->size && pair_want(p, cfi, f) && pair_agrees(p);
}

/* A linked file has its own header at 0, which may lie in a segment of code. */
static bool discarded(struct row_pair *p, struct cfi *cfi)
{
    return p->function.entry->start == 0 &&
           (p->want_by ? !p->hunt->c->object->relocatable : !pair_function(cfi, 0));
}

static bool unrelocated(struct row_pair *p, struct cfi *cfi)
{
    return p->function.entry->raw_start == 0 && !pair_function(cfi, p->function.entry->start);
}

static bool too_high(struct row_pair *p, struct cfi *cfi)
{
    const struct sframe_entry *e = p->function.entry;
    const uint64_t low = e->start - (UINT64_C(1) << 32);
    const struct cfi_function *f = pair_function(cfi, low);

    if (p->want_by)
        return object_is_code(p->hunt->c->object, low, low + e->size);
    return f && pair_is_of(p, cfi, f);
}

/* The starts of the entries next to it. */
static bool one_late_by_code(struct row_pair *p, struct cfi *cfi)
{
    const struct pair_index *x = p->index;
    const uint64_t start = p->function.entry->start;
    const uint32_t at = pair_rank(x->starts, x->count, start),
                   behind = pair_rank(x->starts, x->count, start + 1);

    return (at > 0 && pair_fits_at(p, cfi, x->starts[at - 1])) ||
           (behind < x->count && pair_fits_at(p, cfi, x->starts[behind]));
}

static bool one_late(struct row_pair *p, struct cfi *cfi)
{
    if (p->want_by)
        return one_late_by_code(p, cfi);
    const struct cfi_function *f = pair_function(cfi, p->function.entry->start);

    return f && f > cfi->functions && !pair_is_of(p, cfi, f) &&
           (pair_is_of(p, cfi, f - 1) ||
            (f + 1 < cfi->functions + cfi->count && pair_is_of(p, cfi, f + 1)));
}

static bool in_front(struct row_pair *p, struct cfi *cfi)
{
    const uint64_t start = p->function.entry->start;
    const struct truth *t = p->hunt->truth;
    const size_t next = truth_rank(t, start + 1);
    const struct cfi_function *f = pair_function_from(cfi, start + 1);

    if (p->want_by)
        return !truth_at(t, start) && next < t->count &&
               t->list[next].start - start <= PREFIX_MOST &&
               pair_fits_at(p, cfi, t->list[next].start);

    return f && f->start - start <= PREFIX_MOST && pair_want(p, cfi, f) && pair_agrees(p);
}

static bool elsewhere_by_code(struct row_pair *p, struct cfi *cfi)
{
    const struct truth *t = p->hunt->truth;
    const size_t at = truth_rank(t, p->function.entry->start);

    for (size_t i = at < RANGES_MOST ? 0 : at - RANGES_MOST; i < t->count && i < at + RANGES_MOST;
         i++)
        if (t->list[i].start != p->function.entry->start && pair_fits_at(p, cfi, t->list[i].start))
            return true;
    return false;
}

/* The rows are of another function, which has that size. */
static bool elsewhere(struct row_pair *p, struct cfi *cfi)
{
    const struct cfi_function *own = pair_function(cfi, p->function.entry->start);
    struct index_range like;

    if (p->want_by)
        return elsewhere_by_code(p, cfi);
    if (own && pair_is_of(p, cfi, own))
        return false;
    like = pair_index_like(p->index, p);
    for (unsigned twins = 0; like.low < like.high && twins < TWINS_MOST; twins++, like.low++) {
        p->index->looks++;
        if (pair_is_of(p, cfi, like.low->function))
            return true;
    }
    return false;
}

/* Its rows are right as far as the code goes, and the next function has no entry. */
static bool swallows(struct row_pair *p, struct cfi *cfi)
{
    const struct sframe_entry *e = p->function.entry;
    const struct cfi_function *f = pair_function(cfi, e->start);

    return f && f + 1 < cfi->functions + cfi->count && e->start + e->size == f[1].end &&
           pair_want(p, cfi, f) && pair_agrees(p) && pair_index_starts(p->index, f[1].start) == 0;
}

static bool overlaps(struct row_pair *p, struct cfi *cfi)
{
    const struct sframe_entry *e = p->function.entry;
    const struct cfi_function *f = pair_function(cfi, e->start);

    if (f && p->want_by) {
        const struct cfi_function *next = pair_function_from(cfi, e->start + 1);
        struct cfi_function whole = *f;

        if (!next || next->start >= f->end)
            return false;
        whole.end = next->start;
        return pair_want(p, cfi, &whole) && pair_agrees(p);
    }
    return f && e->size > f->end - f->start && pair_want(p, cfi, f) && pair_agrees(p);
}

/* The function of .eh_frame that has the whole entry in it: the last one that does not start behind it. */
static const struct cfi_function *around(const struct cfi *cfi, const struct sframe_entry *e)
{
    size_t low = 0, high = cfi->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (cfi->functions[middle].start <= e->start)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && e->start + e->size <= cfi->functions[low - 1].end ? &cfi->functions[low - 1]
                                                                        : NULL;
}

/*
 * The bytes of a slot that its push ends at: jmp *, push, jmp; or endbr64, push, jmp. A linkage table is one
 * function of .eh_frame, with its first entry.
 */
static bool other_layout(struct row_pair *p, struct cfi *cfi)
{
    enum { LAZY = 11, WITH_ENDBR = 9 };
    const struct sframe_entry *e = p->function.entry;
    const uint32_t repeat = sframe_repeat(p->function.part, e);
    const struct cfi_function *f = repeat > 0 && e->size >= repeat ? around(cfi, e) : NULL;
    uint32_t moved = 0;

    if (!f || p->count < 2 || !pair_want_range(p, cfi, f, e->start, e->start + repeat) ||
        p->wanted != p->count)
        return false;
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t is = p->row[i].start, should = (uint32_t)p->want[i].start;

        if (rule_difference(&p->row[i].rule, &p->want[i]) != 0)
            return false;
        if (is == should)
            continue;
        if (is + should != LAZY + WITH_ENDBR || (is != LAZY && is != WITH_ENDBR))
            return false;
        moved++;
    }
    return moved == 1;
}

const struct entry_rule entry_rules[] = {
    { { CODE_CAUSE_ROW_START,
        "a linker mixes the layouts of lazy tables and of those with endbr64" },
      "are slots of a linkage table: their row of the push starts where another layout has it",
      other_layout,
      { .functions = 1 },
      false,
      NULL },
    { { CODE_CAUSE_RELOCATION, "a linker discards sections and keeps their entries" },
      "lie at address 0: they are marked as discarded, and their code has no rows",
      discarded,
      { .rows = 0 },
      true,
      NULL },
    { { CODE_CAUSE_RELOCATION, "a linker skips the relocations of one object file" },
      "were never relocated: the fields of their starts are 0",
      unrelocated,
      { .rows = 0 },
      true,
      NULL },
    { { CODE_CAUSE_PART, "a linker applies a relocation of 32 bits to a field of 64" },
      "lie 4 GiB too high: the upper half of the field was not written",
      too_high,
      { .rows = 0 },
      true,
      NULL },
    { { CODE_CAUSE_STARTS, "a linker merges object files of two releases" },
      "count their starts from the other place than the section says: each is off by the offset of "
      "its field",
      pair_of_other_base,
      { .rows = 0 },
      true,
      pair_bases_agree },
    { { CODE_CAUSE_NEIGHBOUR, "ld -r of binutils 2.40 to 2.44 keeps the offsets of relocations" },
      "have the starts of their neighbours: sizes and rows are one entry apart",
      one_late,
      { .rows = 0 },
      true,
      NULL },
    { { CODE_CAUSE_SIZES, "a linker drops an entry and takes sizes from the next one" },
      "are larger than their code: each covers the function behind it, which has no entry",
      swallows,
      { .functions = 1 },
      false,
      NULL },
    { { CODE_CAUSE_SIZES, "a splitter of hot and cold code keeps the size of the whole function" },
      "are larger than their code and reach into the next",
      overlaps,
      { .rows = 0 },
      true,
      NULL },
    { { CODE_CAUSE_PART, "a compiler or assembler counts nops in front of the function's label" },
      "start in front of their code, at nops: all their rows are early",
      in_front,
      { .rows = 0 },
      true,
      NULL },
    { { CODE_CAUSE_NEIGHBOUR, "BOLT, a symbol ordering file or a tool that takes rows for equal" },
      "have the sizes and rows of others: they are in the order of before a reordering",
      elsewhere,
      { .rows = 0 },
      true,
      NULL },
};

const size_t entry_rule_count = sizeof entry_rules / sizeof *entry_rules;
