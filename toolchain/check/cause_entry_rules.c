/* Rules by which entries get a wrong start or size. */
#include "toolchain/check/cause_pairs.h"
#include "toolchain/check/difference.h"

/* Bytes in front of a function that may be nops; functions of the same size that are compared; how far an
 * entry is moved.  */
enum { PREFIX_MOST = 64, TWINS_MOST = 64, PLACES_MOST = 64 };

/* Whether the entry is that function's: its size, and its rows. */
static bool is_of(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f)
{
    return f->end - f->start == p->function.entry->size && pair_want(p, cfi, f) && pair_agrees(p);
}

static bool discarded(struct row_pair *p, struct cfi *cfi)
{
    return p->function.entry->start == 0 && !pair_function(cfi, 0);
}

static bool unrelocated(struct row_pair *p, struct cfi *cfi)
{
    return p->function.entry->raw_start == 0 && !pair_function(cfi, p->function.entry->start);
}

static bool of_other_base(struct row_pair *p, struct cfi *cfi)
{
    const struct sframe_entry *e = p->function.entry;
    const uint64_t step = p->function.part->version->entry_size;

    /* The table may have been sorted after that. */
    for (int64_t away = -PLACES_MOST; away <= PLACES_MOST; away++) {
        const uint64_t field = sframe_entry_at(p->function.part, e->index) + (uint64_t)away * step;
        const struct cfi_function *more = pair_function(cfi, e->start + field);
        const struct cfi_function *less = pair_function(cfi, e->start - field);

        if ((more && is_of(p, cfi, more)) || (less && is_of(p, cfi, less)))
            return true;
    }
    return false;
}

static bool too_high(struct row_pair *p, struct cfi *cfi)
{
    const struct cfi_function *f =
        pair_function(cfi, p->function.entry->start - (UINT64_C(1) << 32));

    return f && is_of(p, cfi, f);
}

static bool one_late(struct row_pair *p, struct cfi *cfi)
{
    const struct cfi_function *f = pair_function(cfi, p->function.entry->start);

    return f && f > cfi->functions && !is_of(p, cfi, f) &&
           (is_of(p, cfi, f - 1) || (f + 1 < cfi->functions + cfi->count && is_of(p, cfi, f + 1)));
}

static bool in_front(struct row_pair *p, struct cfi *cfi)
{
    for (uint64_t n = 1; n <= PREFIX_MOST; n++) {
        const struct cfi_function *f = pair_function(cfi, p->function.entry->start + n);

        if (f)
            return pair_want(p, cfi, f) && pair_agrees(p);
    }
    return false;
}

/* The rows are of another function, which has that size. */
static bool elsewhere(struct row_pair *p, struct cfi *cfi)
{
    const struct cfi_function *own = pair_function(cfi, p->function.entry->start);
    unsigned twins = 0;

    if (own && is_of(p, cfi, own))
        return false;
    for (size_t i = 0; i < cfi->count && twins < TWINS_MOST; i++) {
        const struct cfi_function *f = &cfi->functions[i];

        if (f->end - f->start != p->function.entry->size)
            continue;
        twins++;
        if (is_of(p, cfi, f))
            return true;
    }
    return false;
}

bool pair_entry(const struct row_pair *p, uint64_t start)
{
    for (uint32_t i = 0; i < hunt_functions(p->hunt); i++)
        if (hunt_function(p->hunt, i).entry->start == start)
            return true;
    return false;
}

/* Its rows are right as far as the code goes, and the next function has no entry. */
static bool swallows(struct row_pair *p, struct cfi *cfi)
{
    const struct sframe_entry *e = p->function.entry;
    const struct cfi_function *f = pair_function(cfi, e->start);

    return f && f + 1 < cfi->functions + cfi->count && e->start + e->size == f[1].end &&
           pair_want(p, cfi, f) && pair_agrees(p) && !pair_entry(p, f[1].start);
}

static bool overlaps(struct row_pair *p, struct cfi *cfi)
{
    const struct sframe_entry *e = p->function.entry;
    const struct cfi_function *f = pair_function(cfi, e->start);

    return f && e->size > f->end - f->start && pair_want(p, cfi, f) && pair_agrees(p);
}

/* The function of .eh_frame that has the whole entry in it. */
static const struct cfi_function *around(const struct cfi *cfi, const struct sframe_entry *e)
{
    for (size_t i = 0; i < cfi->count; i++)
        if (e->start >= cfi->functions[i].start && e->start + e->size <= cfi->functions[i].end)
            return &cfi->functions[i];
    return NULL;
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
      { .functions = 1 } },
    { { CODE_CAUSE_RELOCATION, "a linker discards sections and keeps their entries" },
      "lie at address 0: they are marked as discarded, and their code has no rows",
      discarded,
      { .rows = 0 } },
    { { CODE_CAUSE_RELOCATION, "a linker skips the relocations of one object file" },
      "were never relocated: the fields of their starts are 0",
      unrelocated,
      { .rows = 0 } },
    { { CODE_CAUSE_PART, "a linker applies a relocation of 32 bits to a field of 64" },
      "lie 4 GiB too high: the upper half of the field was not written",
      too_high,
      { .rows = 0 } },
    { { CODE_CAUSE_STARTS, "a linker merges object files of two releases" },
      "count their starts from the other place than the section says: each is off by the offset of "
      "its field",
      of_other_base,
      { .rows = 0 } },
    { { CODE_CAUSE_NEIGHBOUR, "ld -r of binutils 2.40 to 2.44 keeps the offsets of relocations" },
      "have the starts of their neighbours: sizes and rows are one entry apart",
      one_late,
      { .rows = 0 } },
    { { CODE_CAUSE_SIZES, "a linker drops an entry and takes sizes from the next one" },
      "are larger than their code: each covers the function behind it, which has no entry",
      swallows,
      { .functions = 1 } },
    { { CODE_CAUSE_SIZES, "a splitter of hot and cold code keeps the size of the whole function" },
      "are larger than their code and reach into the next",
      overlaps,
      { .rows = 0 } },
    { { CODE_CAUSE_PART, "a compiler or assembler counts nops in front of the function's label" },
      "start in front of their code, at nops: all their rows are early",
      in_front,
      { .rows = 0 } },
    { { CODE_CAUSE_NEIGHBOUR, "BOLT, a symbol ordering file or a tool that takes rows for equal" },
      "have the sizes and rows of others: they are in the order of before a reordering",
      elsewhere,
      { .rows = 0 } },
};

const size_t entry_rule_count = sizeof entry_rules / sizeof *entry_rules;
