/*
 * All rows of an entry against the search for one pc: sfb_cfi_rows_*() and sfb_eh_frame_find() have
 * to say the same at every byte, on the programs of fixtures/elf in both byte orders.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/load.h"
#include "sfb/eh_frame.h"
#include "support/eh_entry.h"
#include "support/test.h"

#define FOLDER SFB_SOURCE_DIR "/fixtures/elf/v1/"

static const struct {
    const char *file;
    enum sfb_abi abi;
} fixtures[] = { { FOLDER "amd64/free_pie", SFB_ABI_AMD64_LE },
                 { FOLDER "amd64/prog_sig", SFB_ABI_AMD64_LE },
                 { FOLDER "aarch64/prog_pac_bkey", SFB_ABI_AARCH64_LE },
                 { FOLDER "aarch64_be/free_pie_pac", SFB_ABI_AARCH64_BE },
                 { FOLDER "aarch64_be/libsample_pac_bkey.so", SFB_ABI_AARCH64_BE } };

enum { FIXTURES = sizeof fixtures / sizeof *fixtures };

static uint8_t *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    uint8_t *bytes = malloc(1 << 20);

    cr_assert(file != NULL && bytes != NULL, "%s", name);
    *size = fread(bytes, 1, 1 << 20, file);
    cr_assert(lt(sz, *size, 1 << 20));
    fclose(file);
    return bytes;
}

static uint64_t field(const uint8_t *at, bool big)
{
    const bool swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    uint64_t low = sfb_load_u32(at + (big ? 4 : 0), swap);

    return low | (uint64_t)sfb_load_u32(at + (big ? 0 : 4), swap) << 32;
}

/* In these files addresses are offsets as far as the end of .eh_frame. */
static struct sfb_eh_frame open_eh_frame(const uint8_t *bytes, size_t size, enum sfb_abi abi)
{
    const bool big = abi == SFB_ABI_AARCH64_BE;
    const uint64_t phoff = field(bytes + offsetof(Elf64_Ehdr, e_phoff), big);
    struct sfb_eh_frame eh;

    for (size_t at = phoff; at + sizeof(Elf64_Phdr) < size; at += sizeof(Elf64_Phdr)) {
        uint32_t type = sfb_load_u32(bytes + at, big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));

        if (type != PT_GNU_EH_FRAME)
            continue;
        cr_assert(
            eq(int,
               sfb_eh_frame_open(&eh, bytes, size, 0,
                                 field(bytes + at + offsetof(Elf64_Phdr, p_vaddr), big), abi, NULL),
               SFB_OK));
        return eh;
    }
    cr_fatal("no PT_GNU_EH_FRAME");
}

static void expect_same(const struct sfb_eh_frame *eh, const struct sfb_cfi_rows *rows, uint64_t pc)
{
    struct sfb_rule found, row;
    enum sfb_status status = sfb_eh_frame_find(eh, pc, &found, NULL);

    cr_expect(eq(int, sfb_cfi_rows_rule(rows, pc, &row, NULL), status), "0x%lx", pc);
    cr_expect(status != SFB_OK || memcmp(&found, &row, sizeof row) == 0, "0x%lx", pc);
}

Test(cfi_rows, are_what_a_search_finds_at_every_byte)
{
    for (size_t i = 0; i < FIXTURES; i++) {
        size_t size, row_count = 0, varying = 0;
        uint8_t *bytes = read_file(fixtures[i].file, &size);
        struct sfb_eh_frame eh = open_eh_frame(bytes, size, fixtures[i].abi);

        for (uint32_t index = 0; index < eh.count; index++) {
            struct sfb_cfi_fde fde;
            struct sfb_cfi_rows rows;
            enum sfb_status status;
            uint64_t at;

            cr_assert(eq(int, sfb_eh_frame_fde(&eh, index, &fde, NULL), SFB_OK));
            cr_assert(eq(int, sfb_cfi_rows_init(&rows, &eh, &fde, NULL), SFB_OK));
            at = fde.start;
            while ((status = sfb_cfi_rows_next(&rows, NULL)) == SFB_OK) {
                cr_expect(eq(u64, rows.start, at));
                cr_expect(lt(u64, rows.start, rows.end));
                for (uint64_t pc = rows.start; pc < rows.end; pc++)
                    expect_same(&eh, &rows, pc);
                at = rows.end;
                row_count++;
                varying += rows.varies;
            }
            cr_expect(eq(int, status, SFB_END));
            cr_expect(eq(u64, at, fde.end));
            cr_expect(eq(int, sfb_cfi_rows_next(&rows, NULL), SFB_END));
        }
        cr_expect(ge(sz, row_count, eh.count), "%s", fixtures[i].file);
        /* The linkage table of prog_sig is the one expression here. */
        cr_expect(eq(sz, varying, strstr(fixtures[i].file, "prog_sig") ? 1 : 0), "%s",
                  fixtures[i].file);
        free(bytes);
    }
}

Test(cfi_rows, end_where_the_instructions_are_damaged_and_stay_inside)
{
    size_t size, refused = 0;
    uint8_t *bytes = read_file(fixtures[2].file, &size);
    const struct sfb_eh_frame eh = open_eh_frame(bytes, size, fixtures[2].abi);
    uint32_t random = 1;

    for (int round = 0; round < 20000; round++) {
        struct sfb_cfi_fde fde;
        struct sfb_cfi_rows rows;
        struct sfb_error error = { SFB_OK, NULL, 0 };
        struct sfb_rule rule;
        enum sfb_status status;
        uint8_t before, *at;

        cr_assert(eq(int, sfb_eh_frame_fde(&eh, (uint32_t)round % eh.count, &fde, NULL), SFB_OK));
        if (fde.program == fde.program_end)
            continue;
        random = random * 1664525u + 1013904223u;
        at = bytes + fde.program + (random >> 8) % (fde.program_end - fde.program);
        before = *at;
        *at = (uint8_t)(random >> 3);
        cr_assert(eq(int, sfb_cfi_rows_init(&rows, &eh, &fde, NULL), SFB_OK));
        while ((status = sfb_cfi_rows_next(&rows, &error)) == SFB_OK)
            sfb_cfi_rows_rule(&rows, rows.start, &rule, NULL);
        cr_expect(status == SFB_END || status == SFB_BAD_CFI, "%d", status);
        if (status == SFB_BAD_CFI) {
            cr_expect(eq(u64, error.offset, fde.offset));
            cr_expect(eq(int, error.status, SFB_BAD_CFI));
            refused++;
        }
        *at = before;
    }
    cr_expect(lt(sz, 100, refused));
    free(bytes);
}

Test(cfi_rows, refuse_wrong_arguments)
{
    size_t size;
    uint8_t *bytes = read_file(fixtures[0].file, &size);
    const struct sfb_eh_frame eh = open_eh_frame(bytes, size, fixtures[0].abi);
    struct sfb_cfi_fde fde;
    struct sfb_cfi_rows rows;
    struct sfb_rule rule;

    cr_assert(eq(int, sfb_eh_frame_fde(&eh, 0, &fde, NULL), SFB_OK));
    cr_expect(eq(int, sfb_cfi_rows_init(NULL, &eh, &fde, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_cfi_rows_init(&rows, NULL, &fde, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_cfi_rows_init(&rows, &eh, NULL, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_cfi_rows_next(NULL, NULL), SFB_BAD_ARGUMENT));
    cr_assert(eq(int, sfb_cfi_rows_init(&rows, &eh, &fde, NULL), SFB_OK));
    /* Before the first row there is no pc to ask for. */
    cr_expect(eq(int, sfb_cfi_rows_rule(&rows, fde.start, &rule, NULL), SFB_BAD_ARGUMENT));
    cr_assert(eq(int, sfb_cfi_rows_next(&rows, NULL), SFB_OK));
    cr_expect(eq(int, sfb_cfi_rows_rule(&rows, fde.start, &rule, NULL), SFB_OK));
    cr_expect(eq(int, sfb_cfi_rows_rule(&rows, rows.end, &rule, NULL), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_cfi_rows_rule(&rows, fde.start, NULL, NULL), SFB_BAD_ARGUMENT));
    free(bytes);
}

static const struct {
    const char *name;
    const struct item *program;
    bool varies;
} varying_rows[] = {
    { "no expression", ITEMS(B(0x0e), U(16)), false },
    { "CFA = *(fp - 8)", ITEMS(B(0x0f), U(3), B(0x76), S(-8), B(0x06)), false },
    { "CFA = sp + pc", ITEMS(B(0x0f), U(5), B(0x77), S(8), B(0x80), S(0), B(0x22)), true },
    { "CFA = sp + pc, by bregx", ITEMS(B(0x0f), U(6), B(0x77), S(8), B(0x92), U(16), S(0), B(0x22)),
      true },
    { "fp at CFA + pc", ITEMS(B(0x10), U(6), U(3), B(0x80), S(0), B(0x22)), true },
    { "RA at sp + 8", ITEMS(B(0x10), U(16), U(2), B(0x77), S(8)), false },
    { "r12 at the pc, which no rule has", ITEMS(B(0x10), U(12), U(2), B(0x80), S(0)), false },
};

/* A row that has the pc in it varies, others with expressions do not. */
Test(cfi_rows, vary_where_the_pc_is_in_an_expression)
{
    for (size_t i = 0; i < sizeof varying_rows / sizeof *varying_rows; i++) {
        const struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, varying_rows[i].program);
        struct sfb_cfi_rows rows;

        cr_assert(eq(int, sfb_cfi_rows_init(&rows, &e.eh, &e.fde, NULL), SFB_OK));
        cr_assert(eq(int, sfb_cfi_rows_next(&rows, NULL), SFB_OK));
        cr_expect(eq(int, rows.varies, varying_rows[i].varies), "%s", varying_rows[i].name);
    }
}

#define TWO_REGISTERS U(5), B(0x77), S(8), B(0x70), S(0), B(0x22)
static const struct {
    const char *want;
    const struct item *program;
} refused_rows[] = {
    { "CFA", ITEMS(B(0x0f), TWO_REGISTERS) },
    { "RA", ITEMS(B(0x10), U(16), TWO_REGISTERS) },
    { "fp", ITEMS(B(0x10), U(6), TWO_REGISTERS) },
    { "sp", ITEMS(B(0x16), U(7), TWO_REGISTERS) },
    { "fp", ITEMS(B(0x16), U(7), TWO_REGISTERS, B(0x10), U(6), TWO_REGISTERS) },
    { "CFA", ITEMS(B(0x10), U(16), TWO_REGISTERS, B(0x0f), TWO_REGISTERS) },
    { "CFA", ITEMS(B(0x0e), U(UINT64_C(1) << 40)) },
};

/* Two registers, which no rule has, in one place or in several: the first in the order CFA, RA, fp, sp. */
Test(cfi_rows, say_which_part_has_no_rule)
{
    for (size_t i = 0; i < sizeof refused_rows / sizeof *refused_rows; i++) {
        const struct entry e = entry_with(SFB_ABI_AMD64_LE, NULL, refused_rows[i].program);
        struct sfb_error error = { SFB_OK, "", 0 };
        struct sfb_cfi_rows rows;
        struct sfb_rule rule;

        cr_assert(eq(int, sfb_cfi_rows_init(&rows, &e.eh, &e.fde, NULL), SFB_OK));
        cr_assert(eq(int, sfb_cfi_rows_next(&rows, NULL), SFB_OK));
        cr_expect(
            eq(int, sfb_cfi_rows_rule(&rows, rows.start, &rule, &error), SFB_NOT_EXPRESSIBLE));
        cr_expect(eq(int, error.status, SFB_NOT_EXPRESSIBLE));
        cr_expect_str_eq(error.field, refused_rows[i].want, "%zu: %s", i, error.field);
        cr_expect(eq(u64, error.offset, e.fde.offset));
    }
}
