/* Rules: each makes rows as in .sframe from rows of .eh_frame. */
#include "toolchain/check/cause_pairs.h"

#include <string.h>

#include <sfb/abi.h>

#include "toolchain/check/difference.h"

static bool same_rule(const struct row_pair *p, uint32_t row, uint32_t wanted)
{
    return rule_difference(&p->row[row].rule, &p->want[wanted]) == 0;
}

bool pair_is_equal(const struct row_pair *p)
{
    for (uint32_t i = 0; i < p->count && i < p->wanted; i++)
        if (p->row[i].start != p->want[i].start || !same_rule(p, i, i))
            return false;
    return p->count == p->wanted;
}

uint32_t pair_wrong(const struct row_pair *p)
{
    uint32_t wrong = 0, i = 0;

    for (uint32_t k = 0; k < p->wanted; k++) {
        while (i < p->count && p->row[i].start < p->want[k].start)
            i++;
        wrong += i == p->count || p->row[i].start != p->want[k].start || !same_rule(p, i, k);
    }
    return wrong;
}

bool pair_repeats(const struct row_pair *p)
{
    const uint32_t repeat = sframe_repeat(p->function.part, p->function.entry);

    return (p->function.entry->info & FUNCTION_PCMASK) != 0 && p->wanted > 1 &&
           p->function.entry->size > repeat && p->want[p->wanted - 1].start >= repeat;
}

/* ---- values: a change of each rule ---- */

typedef void change_rule(struct sfb_rule *r);

/*
 * Wherever a table has a row, that of .sframe is the changed one.
 *
 * @param some  or as it should be: words that are large enough for one are so for others
 */
static bool makes_value(const struct row_pair *p, change_rule *change, bool some)
{
    uint32_t i = 0, k = 0;

    while (i < p->count || k < p->wanted) {
        const uint64_t ours = i < p->count ? p->row[i].start : UINT64_MAX;
        const uint64_t theirs = k < p->wanted ? p->want[k].start : UINT64_MAX;
        struct cfi_row changed;

        i += ours <= theirs;
        k += theirs <= ours;
        if (i == 0 || k == 0 || (i > 1 && p->row[i - 1].start <= p->row[i - 2].start))
            return false;
        changed = p->want[k - 1];
        change(&changed.rule);
        if (rule_difference(&p->row[i - 1].rule, &changed) != 0 &&
            !(some && same_rule(p, i - 1, k - 1)))
            return false;
    }
    return true;
}

static void keep(struct sfb_rule *r)
{
    (void)r;
}

bool pair_agrees(struct row_pair *p)
{
    if (p->adapt && !p->adapt(p))
        return false;
    return makes_value(p, keep, false);
}

static void lose_fp(struct sfb_rule *r)
{
    memset(&r->fp, 0, sizeof r->fp);
}

static void put_fp_at_16(struct sfb_rule *r)
{
    if (r->fp.where == SFB_WHERE_CFA)
        r->fp.offset = -16;
}

static void cut_cfa(struct sfb_rule *r)
{
    if (r->cfa_offset >= 128 && r->cfa_offset < 256)
        r->cfa_offset -= 256;
}

static void lose_base(struct sfb_rule *r)
{
    if (r->cfa_base == SFB_BASE_FP)
        r->cfa_base = SFB_BASE_SP;
}

static void count_8_less(struct sfb_rule *r)
{
    if (r->cfa_base == SFB_BASE_SP)
        r->cfa_offset -= 8;
}

/* The same for a frame pointer that stays where it is. */
static void count_8_less_but_fp(struct sfb_rule *r)
{
    if (r->cfa_base == SFB_BASE_SP && r->fp.where == SFB_WHERE_CFA)
        r->fp.offset += 8;
    count_8_less(r);
}

static void count_8_more(struct sfb_rule *r)
{
    if (r->cfa_base == SFB_BASE_SP)
        r->cfa_offset += 8;
}

static void exchange(struct sfb_rule *r)
{
    const struct sfb_saved ra = r->ra;

    if (r->ra.where == SFB_WHERE_UNSAVED || r->fp.where == SFB_WHERE_UNSAVED)
        return;
    r->ra = r->fp;
    r->fp = ra;
}

static void lose_ra(struct sfb_rule *r)
{
    if (r->ra.where == SFB_WHERE_UNSAVED || r->fp.where == SFB_WHERE_UNSAVED)
        return;
    r->ra = r->fp;
    lose_fp(r);
}

static void mark_signal(struct sfb_rule *r)
{
    r->flags ^= SFB_RULE_SIGNAL;
}

#define VALUE(name, change, some)                                                                  \
    static bool name(struct row_pair *p)                                                           \
    {                                                                                              \
        return makes_value(p, change, some);                                                       \
    }
VALUE(fp_lost, lose_fp, false)
VALUE(fp_at_16, put_fp_at_16, true)
VALUE(cfa_cut, cut_cfa, true)
VALUE(base_lost, lose_base, true)
VALUE(cfa_8_less, count_8_less, true)
VALUE(cfa_8_less_but_fp, count_8_less_but_fp, true)
VALUE(cfa_8_more, count_8_more, false)
VALUE(exchanged, exchange, false)
VALUE(ra_lost, lose_ra, false)
VALUE(signal_marked, mark_signal, false)
#undef VALUE

/* Rows are as they should be, or have no caller. */
static bool outermost(struct row_pair *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0, k = 0; k < p->wanted; k++) {
        while (i + 1 < p->count && p->row[i + 1].start <= p->want[k].start)
            i++;
        if (p->count == 0 || p->row[0].start != 0)
            return false;
        if ((p->row[i].rule.flags & SFB_RULE_OUTERMOST) != 0 &&
            (p->want[k].rule.flags & SFB_RULE_OUTERMOST) == 0)
            n++;
        else if (!same_rule(p, i, k))
            return false;
    }
    return n > 0;
}

/* ---- starts ---- */

static bool same_rules(const struct row_pair *p)
{
    for (uint32_t i = 0; i < p->count && i < p->wanted; i++)
        if (!same_rule(p, i, i))
            return false;
    return p->count == p->wanted && p->count > 1;
}

static bool deltas(struct row_pair *p)
{
    for (uint32_t i = 1; i < p->count && i < p->wanted; i++)
        if (p->row[i].start != p->want[i].start - p->want[i - 1].start)
            return false;
    return same_rules(p) && p->row[0].start == p->want[0].start;
}

static bool starts_cut(struct row_pair *p)
{
    for (uint32_t i = 0; i < p->count && i < p->wanted; i++)
        if (p->row[i].start != (uint8_t)p->want[i].start)
            return false;
    return same_rules(p);
}

/* Rows from one on are off by a constant. @param first  written: that row; false: no such */
static bool off_by(const struct row_pair *p, uint32_t *first, int64_t *by)
{
    *first = 0;
    for (uint32_t i = 0; i < p->count && i < p->wanted; i++) {
        const int64_t d = (int64_t)p->row[i].start - (int64_t)p->want[i].start;

        if (*first == 0 && d != 0) {
            *first = i;
            *by = d;
        }
        if (*first != 0 && d != *by)
            return false;
    }
    return same_rules(p) && *first != 0;
}

static bool early(struct row_pair *p)
{
    uint32_t first;
    int64_t by;

    return off_by(p, &first, &by) && first == 1 && by == -4;
}

static bool late(struct row_pair *p)
{
    uint32_t first;
    int64_t by;

    return off_by(p, &first, &by) && by > 0 && by < 16;
}

/* Rows of pushes, and only they, start an instruction early; a row that has no room is left out. */
static bool at_push(struct row_pair *p)
{
    uint32_t k = 0, moved = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        while (k < p->wanted && !same_rule(p, i, k)) {
            if (k + 1 >= p->wanted ||
                p->want[k + 1].rule.cfa_offset != p->want[k].rule.cfa_offset + 8)
                return false;
            k++;
        }
        if (k == p->wanted || p->row[i].start > p->want[k].start)
            return false;
        if (p->row[i].start != p->want[k].start) {
            if (p->want[k].start - p->row[i].start > 6 || k == 0 ||
                p->want[k].rule.cfa_offset != p->want[k - 1].rule.cfa_offset + 8)
                return false;
            moved++;
        }
        k++;
    }
    return moved > 0 && k == p->wanted;
}

/* ---- lists ---- */

/* Rows are missing, and the others are right. */
static bool is_part(const struct row_pair *p, bool (*may_miss)(const struct row_pair *, uint32_t))
{
    uint32_t i = 0;

    for (uint32_t k = 0; k < p->wanted; k++) {
        const bool there =
            i < p->count && p->row[i].start == p->want[k].start && same_rule(p, i, k);

        if (!there && (k == 0 || !may_miss(p, k)))
            return false;
        i += there;
    }
    return i == p->count && p->count < p->wanted;
}

/* An epilogue makes the frame smaller. */
static bool ends_frame(const struct row_pair *p, uint32_t k)
{
    const struct sfb_rule *now = &p->want[k].rule, *before = &p->want[k - 1].rule;

    return now->cfa_base == SFB_BASE_SP &&
           (now->cfa_offset < before->cfa_offset || before->cfa_base != SFB_BASE_SP);
}

/* Code behind a return has the frame again: a state from before the epilogue. */
static bool restores(const struct row_pair *p, uint32_t k)
{
    for (uint32_t i = 0; i + 1 < k; i++)
        if (rule_difference(&p->want[i].rule, &p->want[k]) == 0)
            return !ends_frame(p, k);
    return false;
}

static bool ends_or_restores(const struct row_pair *p, uint32_t k)
{
    uint32_t deepest = 0;

    for (uint32_t i = 1; i < p->wanted; i++)
        if (p->want[i].rule.cfa_offset > p->want[deepest].rule.cfa_offset)
            deepest = i;
    return ends_frame(p, k) || k > deepest;
}

static bool any(const struct row_pair *p, uint32_t k)
{
    return p && k > 0;
}

static bool restore_lost(struct row_pair *p)
{
    return is_part(p, restores);
}

static bool epilogues_lost(struct row_pair *p)
{
    return is_part(p, ends_or_restores);
}

static bool rows_lost(struct row_pair *p)
{
    return is_part(p, any);
}

/* One row more, where rows lie unused, makes it right. */
static bool uncounted(struct row_pair *p)
{
    struct sframe_entry e = *p->function.entry;

    e.row_count++;
    return p->unowned && pair_read(p, p->function.part, &e) && pair_agrees(p);
}

/* The first row is right, and a later one is not. */
static bool is_prefix(const struct row_pair *p)
{
    return p->row[0].start == 0 && same_rule(p, 0, 0);
}

static bool cold(struct row_pair *p)
{
    const int32_t entry = p->function.part->abi == SFB_ABI_AMD64_LE ? 8 : 0;
    const struct sfb_rule *r = &p->row[0].rule;

    return p->count > 0 && !same_rule(p, 0, 0) && r->cfa_base == SFB_BASE_SP &&
           (p->want[0].rule.flags & SFB_RULE_OUTERMOST) == 0 &&
           (p->want[0].rule.cfa_base != SFB_BASE_SP || p->want[0].rule.cfa_offset != entry) &&
           r->cfa_offset == entry && r->fp.where == SFB_WHERE_UNSAVED && pair_wrong(p) == 1;
}

/* ---- other readings ---- */

static bool swapped(struct row_pair *p)
{
    const struct sframe_fix fix = { .kind = FIX_SWAP_ROWS, .to = UINT32_MAX };
    struct sframe_part part = *p->function.part;

    part.fix = &fix;
    return pair_read(p, &part, p->function.entry) && pair_agrees(p);
}

static bool flexible(struct row_pair *p)
{
    struct sframe_entry e = *p->function.entry;

    e.info2 ^= FUNCTION_TYPE_FLEX;
    return p->function.part->version->has_attribute && pair_read(p, p->function.part, &e) &&
           pair_agrees(p);
}

/* Neither the attribute nor a row is 0 throughout in a sound table. */
static bool zeros(struct row_pair *p)
{
    const struct sframe_part *part = p->function.part;
    const uint32_t size = sframe_attribute_size(part->version) > 0 ? 16 : 4;
    const uint64_t at = p->function.entry->row_at;

    for (uint64_t i = 0; i < size; i++)
        if (at + i >= part->fre_size || part->data[part->fre_at + at + i] != 0)
            return false;
    return true;
}

/* Rows behind the first period have no place then, and may be left out. */
static bool past_period(const struct row_pair *p, uint32_t k)
{
    return p->want[k].start >= sframe_repeat(p->function.part, p->function.entry);
}

static bool repeats(struct row_pair *p)
{
    return pair_repeats(p) && (pair_is_equal(p) || is_part(p, past_period));
}

/* Another entry has these rows. Twins contradict each other: that is another fault. */
bool pair_shared(struct row_pair *p)
{
    const struct sframe_entry *e = p->function.entry;

    return pair_index_starts(p->index, e->start) == 1 && pair_index_rows(p->index, e->row_at) > 1 &&
           p->count > 0 && is_prefix(p);
}

/*
 * Wrong rows that are no chance. EACH_ROW: each is changed by itself, and damage of a few bytes is in one or
 * two. ONE_ROW: the row is shorter than the right one, and those behind it are right: no damage does that.
 */
enum { EACH_ROW = 3, ONE_ROW = 1 };

#define ROW(text, makes, tool, ...)                                                                \
    {                                                                                              \
        { CODE_CAUSE_ROW_VALUE, tool }, text, makes, __VA_ARGS__                                   \
    }
#define START(text, makes, tool, ...)                                                              \
    {                                                                                              \
        { CODE_CAUSE_ROW_START, tool }, text, makes, __VA_ARGS__                                   \
    }

const struct pair_rule pair_rules[] = {
    { { CODE_CAUSE_BYTES, "a linker writes the rows of one object file in another byte order" },
      "have rows of the other byte order",
      swapped,
      { .rows = EACH_ROW } },
    { { CODE_CAUSE_INFO, "a linker drops the second info byte" },
      "have flexible rows and are marked as default: with the type the other way round",
      flexible,
      { .rows = 0 } },
    { { CODE_CAUSE_INFO, "a JIT gives all code of a block the type of its stubs" },
      "are no linkage table and have its type: rows repeat though the code does not",
      repeats,
      { .rows = 0 } },
    { { CODE_CAUSE_INFO, "a writer carries the augmentation S over to the next functions" },
      "are marked as signal frames and are ordinary functions, or the reverse",
      signal_marked,
      { .rows = 0 } },
    { { CODE_CAUSE_INFO, "a writer counts changes and not rows" },
      "count one row less than they have: its bytes lie unused",
      uncounted,
      { .rows = 0 } },
    ROW("are zeros: a page of the section was lost", zeros,
        "a packer, or a copy of a sparse file, loses a block", { .rows = 0 }),
    ROW("save the frame pointer, and their rows do not say where", fp_lost,
        "a converter takes the frame pointer for no general register", { .rows = EACH_ROW }),
    ROW("have the saved frame pointer at the wrong slot: CFA-16, though pushes precede it",
        fp_at_16, "a converter expects the push of the frame pointer first", { .rows = EACH_ROW }),
    ROW("have CFA offsets of 128 to 255 cut to a signed byte: the CFA is below the stack pointer",
        cfa_cut, "an assembler chooses the size of words by an unsigned compare",
        { .rows = ONE_ROW }),
    ROW("count the CFA from the frame pointer, and their rows say the stack pointer", base_lost,
        "an assembler ignores DW_CFA_def_cfa_register", { .rows = EACH_ROW }),
    ROW("have a CFA 8 too low: the return address is not counted", cfa_8_less_but_fp,
        "a JIT writes its frame size as the offset of the CFA", { .rows = EACH_ROW }),
    ROW("have a CFA 8 too low: the return address is not counted", cfa_8_less,
        "a JIT writes its frame size as the offset of the CFA", { .rows = EACH_ROW }),
    ROW("have a CFA 8 too high: a word is counted twice", cfa_8_more,
        "a JIT counts the return address twice", { .rows = EACH_ROW }),
    ROW("have the return address and the frame pointer exchanged", exchanged,
        "an assembler writes columns in the order of register numbers", { .rows = EACH_ROW }),
    ROW("lack the word of the return address: the frame pointer's is read as it", ra_lost,
        "a converter for AMD64, where the return address is at a fixed offset",
        { .rows = ONE_ROW }),
    ROW("have rows that say there is no caller, where there is one", outermost,
        "a converter states an undefined return address where it gives up", { .rows = EACH_ROW }),
    START("have row starts that count from the row before, not from the function", deltas,
          "a converter copies the deltas of DW_CFA_advance_loc", { .rows = EACH_ROW }),
    START("have one-byte row starts: those past 255 wrapped", starts_cut,
          "an assembler chooses the type of row starts before relaxation", { .rows = EACH_ROW }),
    START("have rows 4 bytes early: code was put in before them", early,
          "a tool puts endbr64 or bti in front of code that is described already",
          { .rows = EACH_ROW }),
    START("have rows late behind a shortened instruction", late,
          "linker relaxation, or BOLT's shorter jumps", { .rows = EACH_ROW }),
    START("have rows an instruction early: at the push and not behind it", at_push,
          "a JIT notes a change before it emits the push", { .rows = EACH_ROW }),
    ROW("lack the row behind an early return: it has the state of the epilogue", restore_lost,
        "a converter ignores DW_CFA_restore_state", { .rows = ONE_ROW, .whole = true }),
    ROW("have no rows for their epilogues: behind the pops the frame is said to be whole",
        epilogues_lost, "a JIT describes prologues and no epilogues",
        { .rows = ONE_ROW, .whole = true }),
    { { CODE_CAUSE_NEIGHBOUR, "a tool shares rows of functions that it takes for equal" },
      "have the rows of other functions: rows are shared that are not equal",
      pair_shared,
      { .functions = 2 } },
    ROW("lack rows; the others are right", rows_lost, "a converter drops instructions",
        { .rows = EACH_ROW, .whole = true }),
    ROW("are cold parts and begin with the state of a function's entry: a frame is on the stack",
        cold, "a splitter of hot and cold code starts each part like a function",
        { .rows = ONE_ROW }),
};

const size_t pair_rule_count = sizeof pair_rules / sizeof *pair_rules;
