/* Causes in the functions' fields: starts, sizes, offsets of rows, info. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/cause_hunt.h"

static const struct hunt_name part = {
    CODE_CAUSE_PART, "a linker adds the offset of an object file's share twice, or not at all"
};
static const struct hunt_name neighbour = {
    CODE_CAUSE_NEIGHBOUR,
    "a writer sorts one array without the others, or counts one of them from 1"
};
static const struct hunt_name rows_at = {
    CODE_CAUSE_ROWS_AT, "a linker merges tables and does not rebase their FRE offsets"
};
static const struct hunt_name twice = { CODE_CAUSE_TWICE,
                                        "a linker merges the table of an object file twice" };
static const struct hunt_name sizes = {
    CODE_CAUSE_SIZES, "a writer takes the distance to the next function, or sizes before relaxation"
};
static const struct hunt_name info = { CODE_CAUSE_INFO,
                                       "a writer sets the info of all functions alike" };
static const struct hunt_name relocation = {
    CODE_CAUSE_RELOCATION, "objcopy or strip drops relocations, or a linker does not apply them"
};
static const struct hunt_name foreign = {
    CODE_CAUSE_FOREIGN, "objcopy --update-section with the section of another build"
};

/* ---- votes ---- */

/* A majority of neighbours: the value, and the first and last voter. */
struct majority {
    int64_t value;
    uint32_t votes, first, last;
};

struct vote {
    int64_t value;
    uint32_t voter;
};

static int by_value(const void *a, const void *b)
{
    const struct vote *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->voter < y->voter ? -1 : x->voter > y->voter;
}

/* The most frequent value but 0; the votes are sorted. */
static struct majority count_votes(struct vote *votes, size_t n)
{
    struct majority best = { .votes = 0 };

    qsort(votes, n, sizeof *votes, by_value);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && votes[j].value == votes[i].value; j++)
            ;
        if (votes[i].value != 0 && j - i > best.votes)
            best = (struct majority){ votes[i].value, (uint32_t)(j - i), votes[i].voter,
                                      votes[j - 1].voter };
    }
    return best;
}

/* ---- starts of a stretch ---- */

/* Known functions by size and by the distance to the next one, for entries that have both. */
struct pair {
    uint64_t size, distance, next_size, start;
};

static int by_shape(const void *a, const void *b)
{
    return memcmp(a, b, offsetof(struct pair, start));
}

/* Votes of each entry and the next for the distance to the only known pair of that shape. */
static size_t vote_starts(struct vote *votes, const struct hunt *h, struct pair *known,
                          size_t pairs)
{
    const uint32_t count = hunt_functions(h);
    size_t n = 0;

    qsort(known, pairs, sizeof *known, by_shape);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const struct sframe_entry *e = hunt_function(h, i).entry;
        const struct sframe_entry *next = hunt_function(h, i + 1).entry;
        const struct pair want = { e->size, next->start - e->start, next->size, 0 };
        const struct pair *found = bsearch(&want, known, pairs, sizeof *known, by_shape);

        if (!found || (found > known && by_shape(found - 1, &want) == 0) ||
            (found + 1 < known + pairs && by_shape(found + 1, &want) == 0))
            continue;
        votes[n++] = (struct vote){ (int64_t)(found->start - e->start), i };
    }
    return n;
}

/* Entries that vote where functions may be split, and how far their starts may be off. */
enum { SPLIT_VOTERS = 2048, SPLIT_AWAY = 1024, SPLIT_VOTES = 1 << 18 };

/* Votes of entries for each distance to a place near them where a function of their size may be. */
static size_t vote_near(struct vote *votes, const struct hunt *h)
{
    const uint32_t count = hunt_functions(h), step = count / SPLIT_VOTERS + 1;
    const struct truth *t = h->truth;
    size_t n = 0;

    for (uint32_t i = 0; i < count; i += step) {
        const struct sframe_entry *e = hunt_function(h, i).entry;
        const uint64_t from = e->start < SPLIT_AWAY ? 0 : e->start - SPLIT_AWAY;

        if (truth_at(t, e->start) && truth_ends_at(t, e->start + e->size))
            continue;
        for (size_t k = truth_rank(t, from);
             k < t->count && t->list[k].start <= e->start + SPLIT_AWAY && n < SPLIT_VOTES; k++)
            if (truth_ends_at(t, t->list[k].start + e->size))
                votes[n++] = (struct vote){ (int64_t)(t->list[k].start - e->start), i };
    }
    return n;
}

/* The same for ranges of the code. Entries that fit where they are do not vote. */
static void try_split_stretch(struct hunt *h)
{
    struct vote *votes = calloc(SPLIT_VOTES, sizeof *votes);

    if (votes) {
        const struct majority m = count_votes(votes, vote_near(votes, h));

        if (m.votes >= HUNT_LEAST)
            hunt_try_part(
                h, part,
                (struct sframe_fix){
                    .kind = FIX_START, .from = m.first, .to = m.last + 1, .amount = m.value },
                "with %+" PRId64 " bytes on the starts of the functions %" PRIu32 " to %" PRIu32,
                m.value, m.first, m.last);
    }
    free(votes);
}

static void try_stretch(struct hunt *h)
{
    const uint32_t count = hunt_functions(h);
    const struct truth *t = h->truth;
    struct vote *votes = calloc(count, sizeof *votes);
    struct pair *known = calloc(t->count + 1, sizeof *known);
    size_t pairs = 0;

    for (size_t i = 0; known && i + 1 < t->count; i++)
        known[pairs++] =
            (struct pair){ t->list[i].end - t->list[i].start,
                           t->list[i + 1].start - t->list[i].start,
                           t->list[i + 1].end - t->list[i + 1].start, t->list[i].start };
    if (votes && known) {
        const struct majority m = count_votes(votes, vote_starts(votes, h, known, pairs));

        if (m.votes >= HUNT_LEAST)
            hunt_try_part(
                h, part,
                (struct sframe_fix){
                    .kind = FIX_START, .from = m.first, .to = m.last + 2, .amount = m.value },
                "with %+" PRId64 " bytes on the starts of the functions %" PRIu32 " to %" PRIu32,
                m.value, m.first, m.last + 1);
    }
    free(votes);
    free(known);
}

/* ---- neighbours ---- */

static void try_neighbours(struct hunt *h)
{
    static const struct {
        enum fix_kind kind;
        enum check_code shows[3];
        const char *what;
    } kinds[] = {
        { FIX_START_NEIGHBOUR, { CODE_OVERLAP, CODE_CFA_DIFFERS, CODE_PAST_SYMBOL }, "start" },
        { FIX_START_RAW, { CODE_OVERLAP, CODE_NOT_SORTED, CODE_IN_SYMBOL }, "field of the start" },
        { FIX_SIZE_NEIGHBOUR, { CODE_OVERLAP, CODE_PAST_SYMBOL, CODE_ROW_AFTER_END }, "size" },
        { FIX_ROWS_NEIGHBOUR, { CODE_ROW_AFTER_END, CODE_CFA_DIFFERS, CODE_INSN_CFA }, "rows" },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool known = h->out->before.equal * 10 >= h->out->before.all * 9;
        uint64_t shown = 0;

        if (known != (kinds[i].kind == FIX_ROWS_NEIGHBOUR))
            continue;
        for (size_t k = 0; k < 3; k++)
            shown += hunt_count(h, kinds[i].shows[k]);
        for (int away = -1; away <= 1 && shown >= HUNT_LEAST; away += 2)
            hunt_try(h, neighbour, hunt_all(kinds[i].kind, away),
                     "with the %s of the entry %s each", kinds[i].what,
                     away < 0 ? "in front of" : "behind");
    }
}

/* ---- offsets of rows ---- */

static bool is_possible(struct check_function f, int64_t by, uint64_t *end)
{
    return sframe_rows_possible(f.part, f.entry, (uint64_t)f.entry->row_at + (uint64_t)by, end);
}

/*
 * Functions whose rows are impossible, one for each place of rows: functions that share rows have one vote.
 *
 * @return how many
 */
static uint32_t find_impossible(struct vote *out, const struct hunt *h)
{
    uint32_t n = 0, places = 0;
    uint64_t end;

    for (uint32_t i = 0; i < hunt_functions(h); i++)
        if (!is_possible(hunt_function(h, i), 0, &end))
            out[n++] = (struct vote){ hunt_function(h, i).entry->row_at, i };
    qsort(out, n, sizeof *out, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || out[i].value != out[places - 1].value)
            out[places++] = out[i];
    return places;
}

/* How many of these have possible rows only with so many bytes on their offset. */
static uint32_t helped(const struct hunt *h, const struct vote *wrong, uint32_t count, int64_t by)
{
    uint32_t n = 0;
    uint64_t end;

    for (uint32_t i = 0; i < count; i++)
        n += is_possible(hunt_function(h, wrong[i].voter), by, &end);
    return n;
}

/* Voters on an offset, the bytes each of them looks at, and all their votes. */
enum { ROW_VOTERS = 32, ROW_BYTES = 1 << 20, ROW_VOTES = 1 << 16 };

/* What is to be added: functions whose rows are impossible vote for each place where they are possible. */
static int64_t find_offset(const struct hunt *h, const struct vote *wrong, uint32_t count)
{
    const struct sframe_part *p = &h->as_it_stands->parts[0];
    const uint32_t step = count / ROW_VOTERS + 1;
    struct vote *votes = calloc(ROW_VOTES, sizeof *votes);
    struct majority m = { .votes = 0 };
    uint64_t end;
    size_t n = 0;

    for (uint32_t i = 0; votes && i < count; i += step) {
        const struct check_function f = hunt_function(h, wrong[i].voter);

        for (uint64_t at = 0; at < p->fre_size && at < ROW_BYTES && n < ROW_VOTES; at++)
            if (sframe_rows_possible(p, f.entry, at, &end))
                votes[n++] = (struct vote){ (int64_t)at - (int64_t)f.entry->row_at, i };
    }
    if (votes)
        m = count_votes(votes, n);
    free(votes);
    return m.votes >= HUNT_LEAST && helped(h, wrong, count, m.value) * 2 >= count ? m.value : 0;
}

/* The share of an object file, or all of the table, whose rows are looked for at the wrong place. */
static void try_row_offsets(struct hunt *h)
{
    struct vote *wrong = calloc((size_t)hunt_functions(h) + 1, sizeof *wrong);
    uint32_t count;
    int64_t by;

    if (!wrong)
        return;
    count = find_impossible(wrong, h);
    by = h->as_it_stands->part_count == 1 && count >= HUNT_LEAST ? find_offset(h, wrong, count) : 0;
    if (by != 0)
        hunt_try_part(h, rows_at, hunt_all(FIX_ROWS_AT, by),
                      "with %+" PRId64 " bytes on the offsets of the rows of %" PRIu32 " functions",
                      by, helped(h, wrong, count, by));
    free(wrong);
}

/* ---- sizes ---- */

static void try_function_sizes(struct hunt *h)
{
    const uint32_t count = hunt_functions(h);
    struct vote *votes = calloc(count, sizeof *votes);
    struct majority m;
    uint32_t starts = 0, differ = 0;
    size_t n = 0;

    for (uint32_t i = 0; votes && i < count; i++) {
        const struct sframe_entry *e = hunt_function(h, i).entry;
        const struct object_range *r = truth_at(h->truth, e->start);

        if (!r)
            continue;
        starts++;
        differ += r->end - r->start != e->size;
        votes[n++] = (struct vote){ (int64_t)(r->end - r->start) - (int64_t)e->size, i };
    }
    if (!votes)
        return;
    m = count_votes(votes, n);
    free(votes);
    if (differ < HUNT_LEAST || differ * 2 < starts || starts * 2 < count)
        return;
    if (m.votes * 2 >= differ)
        hunt_try(h, sizes, hunt_all(FIX_SIZE, m.value), "with %+" PRId64 " bytes on each size",
                 m.value);
    hunt_try(h, sizes, hunt_all(FIX_SIZE_KNOWN, 0), "with the sizes of the symbols");
}

/* ---- info ---- */

static void try_info(struct hunt *h)
{
    static const struct {
        uint8_t mask;
        enum check_code shows;
        const char *what;
    } bits[] = {
        { FUNCTION_PCMASK, CODE_PCMASK_PLACE, "PCMASK" },
        { FUNCTION_PCMASK, CODE_PCMASK_ROW, "PCMASK" },
        { FUNCTION_KEY_B, CODE_KEY_DIFFERS, "of key B" },
        { FUNCTION_KEY_B, CODE_KEY_ABI, "of key B" },
        { FUNCTION_KEY_B, CODE_INSN_KEY, "of key B" },
        { FUNCTION_SIGNAL, CODE_SIGNAL_DIFFERS, "of signal frames" },
        { FUNCTION_SIGNAL, CODE_INSN_SIGNAL, "of signal frames" },
        { FUNCTION_SIGNAL, CODE_INFO_BITS, "7" },
        { 0x40, CODE_INFO_BITS, "6" },
    };

    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (hunt_count(h, bits[i].shows) >= HUNT_LEAST)
            hunt_try(h, info, hunt_all(FIX_INFO, bits[i].mask), "without the bit %s", bits[i].what);
    if (hunt_count(h, CODE_ROWS_TORN) + hunt_count(h, CODE_FIRST_ROW) +
            hunt_count(h, CODE_ROW_AFTER_END) + hunt_count(h, CODE_OFFSET_COUNT) +
            hunt_count(h, CODE_ROW_TYPE) + hunt_count(h, CODE_ROWS_DESCEND) +
            hunt_count(h, CODE_UNOWNED) + hunt_count(h, CODE_NO_ROWS) +
            hunt_count(h, CODE_ROWS_TOO_MANY) >=
        HUNT_LEAST) {
        hunt_try(h, info, hunt_all(FIX_ROW_TYPE, 0),
                 "with another type of row starts, where only that makes the rows possible");
        for (int type = 1; type <= 3; type++)
            hunt_try(h, info, hunt_all(FIX_INFO, type), "with the type of row starts changed by %d",
                     type);
        hunt_try(h, info, hunt_all(FIX_ROW_COUNT, 1), "with one row more for each function");
        hunt_try(h, info, hunt_all(FIX_ROW_COUNT, -1), "with one row less for each function");
    }
}

/* ---- tables of nothing ---- */

/* How many entries have the most frequent field. */
static uint32_t most_equal_fields(const struct hunt *h, int64_t *value)
{
    const uint32_t count = hunt_functions(h);
    struct vote *votes = calloc(count, sizeof *votes);
    uint32_t most = 0;

    for (uint32_t i = 0; votes && i < count; i++)
        votes[i] = (struct vote){ hunt_function(h, i).entry->raw_start, i };
    if (votes)
        qsort(votes, count, sizeof *votes, by_value);
    for (uint32_t i = 0, j; votes && i < count; i = j) {
        for (j = i; j < count && votes[j].value == votes[i].value; j++)
            ;
        if (j - i > most) {
            most = j - i;
            *value = votes[i].value;
        }
    }
    free(votes);
    return most;
}

static void look_for_relocations(struct hunt *h)
{
    const uint32_t count = hunt_functions(h);
    int64_t value = 0;

    if (hunt_count(h, CODE_NO_RELOCATION) >= HUNT_LEAST &&
        hunt_count(h, CODE_NO_RELOCATION) * 2 >= count)
        hunt_settle(h, relocation, hunt_all(FIX_FOREIGN, 0),
                    "%" PRIu64 " of %" PRIu32 " entries have no relocation",
                    hunt_count(h, CODE_NO_RELOCATION), count);
    else if (!h->c->object->relocatable && count >= HUNT_LEAST &&
             most_equal_fields(h, &value) * 2 >= count)
        hunt_settle(h, relocation, hunt_all(FIX_FOREIGN, 0),
                    "%" PRIu32 " of %" PRIu32 " starts are 0x%" PRIx64
                    ": nothing was added to them",
                    most_equal_fields(h, &value), count, (uint64_t)value);
}

static void look_for_another_file(struct hunt *h)
{
    const uint32_t count = hunt_functions(h);
    uint32_t known = 0;

    for (uint32_t i = 0; i < count; i++)
        known += truth_at(h->truth, hunt_function(h, i).entry->start) != NULL;
    if (count >= HUNT_LEAST && h->truth->count >= HUNT_LEAST && !h->truth->split &&
        known * 2 < count && h->all >= count / 2)
        hunt_settle(h, foreign, hunt_all(FIX_FOREIGN, 0),
                    "%" PRIu32 " of %" PRIu32
                    " functions start at one of %s: no constant and no other "
                    "reading brings more",
                    known, count, h->truth->by);
}

static void try_twice(struct hunt *h)
{
    const uint64_t n = hunt_count(h, CODE_DUPLICATE);

    if (n >= HUNT_LEAST)
        hunt_try_part(h, twice, hunt_all(FIX_TWICE, 0), "without %" PRIu64 " entries that repeat",
                      n);
}

void hunt_entries(struct hunt *h)
{
    if (h->truth->count >= HUNT_LEAST && h->truth->split)
        try_split_stretch(h);
    else if (h->truth->count >= HUNT_LEAST)
        try_stretch(h);
    try_twice(h);
    try_neighbours(h);
    if (h->truth->count >= HUNT_LEAST && !h->truth->split)
        try_function_sizes(h);
    try_row_offsets(h);
    try_info(h);
    look_for_relocations(h);
}

void hunt_last(struct hunt *h)
{
    if (h->out->before.equal * 4 < h->out->before.all)
        look_for_another_file(h);
}
