/* Causes in the rows: one change to each of them. */
#include <inttypes.h>
#include <string.h>

#include <sfb/abi.h>

#include "toolchain/check/cause_hunt.h"

static const struct hunt_name value = {
    CODE_CAUSE_ROW_VALUE,
    "a writer counts the return address's word once more or not at all, or mixes fields"
};
static const struct hunt_name start = { CODE_CAUSE_ROW_START,
                                        "a writer counts in other units, or from another place" };
static const struct hunt_name bytes = {
    CODE_CAUSE_BYTES, "a cross assembler or linker writes the order of its host"
};
static const struct hunt_name outermost = { CODE_CAUSE_OUTERMOST,
                                            "a writer of version 3 forgets the words of its rows" };

static uint64_t of_level(const struct hunt *h, unsigned low, unsigned high)
{
    uint64_t n = 0;

    for (size_t i = 0; i < check_code_count; i++)
        if ((unsigned)check_codes[i].code >= low && (unsigned)check_codes[i].code <= high)
            n += h->found.of_code[i];
    return n;
}

/* The first row of a function. @return false: none that can be read */
static bool first_row(struct check_function f, struct sframe_row *out)
{
    return f.entry->row_count > 0 && !f.entry->rows_lost &&
           sframe_row_read(out, f.part, f.entry, sframe_first_row(f.part, f.entry)) == ROW_READ;
}

enum { DELTA_MAX = 256 };

/* A stretch of functions that begin with a CFA so far off, the longest one. */
struct run {
    int64_t delta;
    uint32_t from, to, length;
};

static struct run longest_run(const struct hunt *h)
{
    const bool amd64 = hunt_function(h, 0).part->abi == SFB_ABI_AMD64_LE;
    struct run best = { .length = 0 }, now = { .length = 0 };

    for (uint32_t i = 0; i < hunt_functions(h); i++) {
        const struct check_function f = hunt_function(h, i);
        struct sframe_row r;
        int64_t delta;

        if (sframe_is_flex(f.entry) || !first_row(f, &r) || r.count == 0 ||
            (r.info & ROW_BASE_SP) == 0)
            continue;
        delta = (int64_t)(amd64 ? 8 : 0) - r.word[0];
        if (delta == 0 || delta > DELTA_MAX || delta < -DELTA_MAX || now.delta != delta)
            now = (struct run){ delta, i, i, 0 };
        now.to = i + 1;
        now.length++;
        if (delta != 0 && now.length > best.length)
            best = now;
    }
    return best;
}

/* Functions whose first row counts from fp. */
static uint32_t begin_with_fp(const struct hunt *h)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < hunt_functions(h); i++) {
        struct sframe_row r;

        n += first_row(hunt_function(h, i), &r) && r.count > 0 && (r.info & ROW_BASE_SP) == 0;
    }
    return n;
}

static void try_cfa(struct hunt *h)
{
    const struct run run = longest_run(h);
    const uint32_t count = hunt_functions(h);

    if (run.length >= HUNT_LEAST) {
        hunt_try(h, value, hunt_all(FIX_CFA, run.delta),
                 "with %+" PRId64 " bytes on the CFA of each row", run.delta);
        if (run.length < count / 2)
            hunt_try_part(
                h, value,
                (struct sframe_fix){
                    .kind = FIX_CFA, .from = run.from, .to = run.to, .amount = run.delta },
                "with %+" PRId64 " bytes on the CFA in the functions %" PRIu32 " to %" PRIu32,
                run.delta, run.from, run.to - 1);
    }
    if (begin_with_fp(h) * 2 >= count)
        hunt_try(h, value, hunt_all(FIX_BASE, 0), "with sp for fp, and fp for sp, in each row");
}

static void try_saved(struct hunt *h)
{
    static const int offsets[] = { 8, -8, 16, -16 };

    if (of_level(h, CODE_RA_DIFFERS, CODE_FP_DIFFERS) + of_level(h, CODE_INSN_RA, CODE_INSN_FP) +
            of_level(h, CODE_SLOT, CODE_SAME_SLOT) <
        HUNT_LEAST)
        return;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        hunt_try(h, value, hunt_all(FIX_SAVED, offsets[i]),
                 "with %+d bytes on the places of saved registers", offsets[i]);
    hunt_try(h, value, hunt_all(FIX_SAVED_SWAP, 0), "with the places of RA and fp exchanged");
}

static void try_starts(struct hunt *h)
{
    static const int amounts[] = { -1, 1, -4, 4, -2, 2, -8, 8 }, shifts[] = { 2, -2, 1, -1 };
    struct sframe_row r;
    int64_t odd = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < hunt_functions(h); i++)
        if (first_row(hunt_function(h, i), &r) && r.start != 0) {
            n++;
            odd = r.start;
        }
    if (n * 2 >= hunt_functions(h))
        hunt_try(h, start, hunt_all(FIX_ROW_START, -odd), "with %" PRId64 " bytes on each start",
                 -odd);
    if (of_level(h, CODE_CFA_DIFFERS, CODE_FP_DIFFERS) + of_level(h, CODE_INSN_CFA, CODE_INSN_ROW) +
            hunt_count(h, CODE_ROW_AFTER_END) <
        HUNT_LEAST)
        return;
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        hunt_try(h, start, hunt_all(FIX_ROW_START, amounts[i]),
                 "with %+d bytes on the start of each row but the first", amounts[i]);
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++)
        hunt_try(h, start, hunt_all(FIX_ROW_SCALE, shifts[i]), "with the starts %s by %d",
                 shifts[i] > 0 ? "multiplied" : "divided",
                 1 << (shifts[i] > 0 ? shifts[i] : -shifts[i]));
}

static bool is_outermost(struct check_function f)
{
    struct sframe_row r;

    if (f.entry->row_count == 0)
        return !f.entry->rows_lost;
    return first_row(f, &r) && r.count == 0;
}

static void try_outermost(struct hunt *h)
{
    const uint32_t count = hunt_functions(h);
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += is_outermost(hunt_function(h, i));
    if (!hunt_function(h, 0).part->version->has_attribute || n < TRUTH_LEAST || n * 2 < count ||
        hunt_count(h, CODE_INSN_OUTERMOST) + hunt_count(h, CODE_RA_DIFFERS) +
                hunt_count(h, CODE_OUTERMOST) <
            TRUTH_LEAST)
        return;
    hunt_try_functions(h, outermost, hunt_all(FIX_OUTERMOST, 0), false,
                       "%" PRIu32 " of %" PRIu32
                       " functions begin without a caller: with them unjudged",
                       n, count);
}

void hunt_rows(struct hunt *h)
{
    try_outermost(h);
    try_cfa(h);
    try_saved(h);
    if (hunt_count(h, CODE_SIGNED_DIFFERS) + hunt_count(h, CODE_INSN_SIGNED) +
            hunt_count(h, CODE_MANGLED_ABI) >=
        HUNT_LEAST)
        hunt_try(h, value, hunt_all(FIX_SIGNED, 0),
                 "with the bit of signed return addresses the other way round");
    hunt_try(h, bytes, hunt_all(FIX_SWAP_ROWS, 0),
             "the rows have the other byte order: in that order");
    try_starts(h);
}
