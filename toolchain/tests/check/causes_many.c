/*
 * Causes in a table of 20,000 functions: what the search costs, and what is there by chance. Causes in a table of 500
 * functions, by the code alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/test.h"
#include "symbols/sframe.h"
#include "toolchain/check/bytes.h"
#include "toolchain/check/finding_list.h"
#include "toolchain/check/insn.h"
#include "util/input.h"

/* Version 1: entries of 17 bytes. */
enum { ENTRY = 17, AT_SIZE = 4, AT_ROWS = 8 };

/* Looks at entries and functions, for each function: 14 when this was written, and 20,000 without an index. */
enum { LOOKS_MOST = 64 };

struct table {
    struct input file;
    uint8_t *entries, *rows;
    uint32_t count;
    uint64_t address;
    bool bare; /* .eh_frame is not looked at */
};

static void open_copy(struct table *t, const char *library)
{
    char folder[] = "/tmp/sfb-many.XXXXXX";
    struct object_sframe found;
    struct object_fault fault;
    struct object object;
    struct run run;
    char path[64];

    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/copy", folder);
    run = run_line("'%s' synth --force --sframe-version 1 '%s' -o '%s'", SFB_TOOL, library, path);
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    cr_assert(input_open(&t->file, path) == NULL);
    cr_assert(object_open(&object, &fault, t->file.data, t->file.size) != 0);
    cr_assert(object_find_sframe(&found, &fault, &object) == OBJECT_FOUND);
    t->entries = t->file.data + (found.data - t->file.data) + SFRAME_HEADER_SIZE;
    t->rows = t->entries + bytes_load(found.data + AT_HEADER_FRE_AT, 4, false);
    t->address = found.address;
    t->bare = false;
    t->count = (uint32_t)bytes_load(found.data + AT_HEADER_FDES, 4, false);
    cr_assert(eq(u8, found.data[AT_HEADER_VERSION], 1));
    object_close(&object);
    run = run_line("rm -r '%s'", folder);
    run_free(&run);
}

static uint8_t *entry(const struct table *t, uint32_t index)
{
    return t->entries + (size_t)index * ENTRY;
}

static uint32_t field(const struct table *t, uint32_t index, size_t at)
{
    return (uint32_t)bytes_load(entry(t, index) + at, 4, false);
}

/* The first finding, and what it cost. */
static unsigned look(const struct table *t, uint64_t *looks)
{
    struct finding_list list = { .list = NULL };
    const struct check_options options = { .take = finding_list_take,
                                           .take_data = &list,
                                           .no_cfi = t->bare,
                                           .code = t->bare ? CHECK_CODE_ALL : CHECK_CODE_NONE,
                                           .limit = 100 };
    struct check_result result;
    unsigned first;

    check_image(&result, "many", t->file.data, t->file.size, &options);
    first = list.count > 0 ? (unsigned)list.list[0].code : 0;
    *looks = result.looks;
    finding_list_free(&list);
    check_result_free(&result);
    return first;
}

/* Each function has the rows of another, which no rule makes: all rules look at all functions. */
Test(check_causes_many, cost_as_much_as_there_are_functions)
{
    uint64_t looks;
    struct table t;

    open_copy(&t, CHECK_MANY);
    cr_assert(lt(u32, 20000, t.count));
    for (uint32_t i = 0; i < t.count; i++) {
        const uint32_t other = (uint32_t)((uint64_t)i * 7919 % t.count);
        const uint32_t mine = field(&t, i, AT_ROWS), theirs = field(&t, other, AT_ROWS);

        bytes_store(entry(&t, i) + AT_ROWS, 4, theirs, false);
        bytes_store(entry(&t, other) + AT_ROWS, 4, mine, false);
    }
    cr_expect(lt(uint, look(&t, &looks), CODE_CAUSE_STARTS));
    cr_expect(lt(u64, t.count, looks), "%llu looks at %u functions", (unsigned long long)looks,
              t.count);
    cr_expect(lt(u64, looks, (uint64_t)t.count * LOOKS_MOST), "%llu looks at %u functions",
              (unsigned long long)looks, t.count);
    input_free(&t.file);
}

/* The functions [first, first + 5) in another order, one behind the other. */
static void reorder(const struct table *t, uint32_t first)
{
    static const uint32_t order[] = { 2, 3, 4, 0, 1 };
    uint32_t start = field(t, first, 0);
    uint8_t before[5 * ENTRY];

    memcpy(before, entry(t, first), sizeof before);
    for (uint32_t i = 0; i < 5; i++) {
        memcpy(entry(t, first + i), before + (size_t)order[i] * ENTRY, ENTRY);
        bytes_store(entry(t, first + i), 4, start, false);
        start += field(t, first + i, AT_SIZE);
    }
}

/*
 * Each of these five functions has a twin that lies, by chance, as far away as a field's offset. The places in the
 * table that these fields would have are not the twins'.
 */
Test(check_causes_many, tell_another_order_from_starts_that_count_from_another_place)
{
    uint64_t looks;
    struct table t;

    open_copy(&t, CHECK_MANY);
    reorder(&t, 150);
    cr_expect(eq(uint, look(&t, &looks), CODE_CAUSE_NEIGHBOUR));
    input_free(&t.file);
}

Test(check_causes_many, see_starts_that_count_from_another_place)
{
    uint64_t looks;
    struct table t;

    for (int sign = -1; sign <= 1; sign += 2) {
        open_copy(&t, CHECK_MANY);
        for (uint32_t i = 150; i < 155; i++)
            bytes_store(entry(&t, i), 4,
                        field(&t, i, 0) +
                            (uint32_t)(sign * (int32_t)(SFRAME_HEADER_SIZE + i * ENTRY)),
                        false);
        cr_expect(eq(uint, look(&t, &looks), CODE_CAUSE_STARTS), "%d", sign);
        input_free(&t.file);
    }
}

/* ---- by the code alone ---- */

/* A row of one of the first 300 functions: its start, its info, the offset of the CFA. */
enum { ROW = 3, ROWS = 5, FIRST = 150, LAST = 162 };

static uint8_t *row(const struct table *t, uint32_t index, uint32_t number)
{
    return t->rows + field(t, index, AT_ROWS) + (size_t)number * ROW;
}

static void lower_cfa(const struct table *t, uint32_t index)
{
    for (uint32_t k = 0; k < ROWS; k++)
        row(t, index, k)[2] = (uint8_t)(row(t, index, k)[2] - 8);
}

static void lose_epilogue(const struct table *t, uint32_t index)
{
    entry(t, index)[12] = 3; /* rows */
}

static void discard(const struct table *t, uint32_t index)
{
    bytes_store(entry(t, index), 4, (uint64_t)0 - t->address, false);
}

static void reach_into_next(const struct table *t, uint32_t index)
{
    bytes_store(entry(t, index) + AT_SIZE, 4, field(t, index, AT_SIZE) + 4, false);
}

static void move(const struct table *t, uint32_t index)
{
    bytes_store(entry(t, index), 4, field(t, index, 0) + 4, false);
}

static const struct {
    const char *name;
    void (*change)(const struct table *t, uint32_t index);
    uint32_t count; /* of functions */
    enum check_code cause;
} faults[] = {
    /* 60 functions share their rows. */
    { "the CFA 8 too low", lower_cfa, 5, CODE_CAUSE_ROW_VALUE },
    { "no rows for epilogues", lose_epilogue, 12, CODE_CAUSE_ROW_VALUE },
    { "entries of discarded code", discard, 12, CODE_CAUSE_RELOCATION },
    { "sizes that reach into the next function", reach_into_next, 12, CODE_CAUSE_SIZES },
    { "starts 4 too high", move, 12, CODE_CAUSE_PART },
};

Test(check_causes_many, are_named_by_the_code_alone)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults && decoder_built(); i++) {
        uint64_t looks;
        struct table t;
        unsigned first;

        open_copy(&t, CHECK_FEW);
        t.bare = true;
        for (uint32_t k = FIRST; k < FIRST + faults[i].count; k++)
            faults[i].change(&t, k);
        first = look(&t, &looks);
        cr_expect(eq(uint, first, faults[i].cause), "%s", faults[i].name);
        input_free(&t.file);
    }
}

/* One function with the same fault, and one with another, are no rule. */
Test(check_causes_many, are_not_claimed_of_two_functions)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults && decoder_built(); i++) {
        uint64_t looks;
        struct table t;
        unsigned first;

        open_copy(&t, CHECK_FEW);
        t.bare = true;
        faults[i].change(&t, FIRST);
        faults[(i + 1) % (sizeof faults / sizeof *faults)].change(&t, LAST);
        first = look(&t, &looks);
        cr_expect(lt(uint, 0, first));
        cr_expect(ne(uint, first / 100, CODE_CAUSE_STARTS / 100), "%s: SF%04u", faults[i].name,
                  first);
        input_free(&t.file);
    }
}
