/*
 * Compares .sframe, at every byte of code, with something that was made without our code:
 *
 *     test-synth-rows FILE              with .eh_frame of FILE as elfutils reads it (libdw)
 *     test-synth-rows FILE SECTION VMA  with the bytes of another section, for the same code
 *
 * With libdw nothing is believed to be inexpressible either: what an expression gives is computed
 * for two sets of made-up registers, and whatever comes to "sp or fp + a constant" has to be in
 * .sframe, and nothing else may be. Differences are listed, a line each; the last line is the sum.
 * Exit status 0: no differences, 1: some, 2: it could not be done.
 *
 * What is not compared, because libdw does not say it: which return addresses are signed.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sfb/section.h"

enum { REGISTERS = 64, LISTED_MAX = 40 };

/* DWARF numbers, and what a call pushes. */
struct machine {
    int sp, fp, ra, pc;
    bool amd64;
};

/* A row of version 1, or nothing. */
struct answer {
    bool given;
    bool unsure;  /* or nothing: see above */
    uint8_t base; /* enum sfb_base */
    bool ra_saved, fp_saved;
    uint8_t flags; /* enum sfb_rule_flags; libdw does not say them */
    int64_t cfa, ra, fp;
};

struct counts {
    uint64_t bytes, expressible, differences;
};

struct file {
    Elf *elf;
    GElf_Ehdr header;
    Dwarf_CFI *cfi;
    struct machine machine;
    struct sfb_section section;
};

static _Noreturn void die(const char *what, const char *name)
{
    fprintf(stderr, "test-synth-rows: %s: %s\n", name, what);
    exit(2);
}

/* --- expressions, with made-up registers ----------------------------------------------------- */

struct value {
    bool known;
    uint64_t n;
};

static uint64_t register_value(unsigned set, uint64_t number)
{
    uint64_t x = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) + set * UINT64_C(0xda942042e4dd58b5);

    return (x ^ x >> 29) & UINT64_C(0x7ffffffffff0);
}

/* Enough of DWARF for CFI; a load, or anything unusual, makes the value unknown. */
static struct value evaluate(const Dwarf_Op *ops, size_t count, const struct machine *m,
                             unsigned set, uint64_t pc, uint64_t cfa)
{
    uint64_t stack[32] = { 0 };
    size_t depth = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t a = ops[i].number, b = ops[i].number2;
        const uint8_t op = ops[i].atom;
        uint64_t top = depth > 0 ? stack[depth - 1] : 0, next = depth > 1 ? stack[depth - 2] : 0;

        if (depth > 30)
            return (struct value){ false, 0 };
        if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
            stack[depth++] = op - DW_OP_lit0;
        } else if ((op >= DW_OP_breg0 && op <= DW_OP_breg31) || op == DW_OP_bregx) {
            uint64_t number = op == DW_OP_bregx ? a : (uint64_t)(op - DW_OP_breg0);
            uint64_t offset = op == DW_OP_bregx ? b : a;

            stack[depth++] =
                (number == (uint64_t)m->pc ? pc : register_value(set, number)) + offset;
        } else if (op == DW_OP_call_frame_cfa) {
            stack[depth++] = cfa;
        } else if (op == DW_OP_plus_uconst && depth > 0) {
            stack[depth - 1] = top + a;
        } else if ((op >= DW_OP_const1u && op <= DW_OP_consts)) {
            stack[depth++] = a;
        } else if (depth > 1 && (op == DW_OP_plus || op == DW_OP_minus || op == DW_OP_and ||
                                 op == DW_OP_shl || op == DW_OP_ge)) {
            depth--;
            switch (op) {
            case DW_OP_plus: stack[depth - 1] = next + top; break;
            case DW_OP_minus: stack[depth - 1] = next - top; break;
            case DW_OP_and: stack[depth - 1] = next & top; break;
            case DW_OP_shl: stack[depth - 1] = top < 64 ? next << top : 0; break;
            default: stack[depth - 1] = (int64_t)next >= (int64_t)top; break;
            }
        } else {
            return (struct value){ false, 0 };
        }
    }
    return (struct value){ depth == 1, stack[0] };
}

static bool mentions_pc(const Dwarf_Op *ops, size_t count, const struct machine *m)
{
    for (size_t i = 0; i < count; i++)
        if ((ops[i].atom == DW_OP_bregx && ops[i].number == (uint64_t)m->pc) ||
            (ops[i].atom >= DW_OP_breg0 && ops[i].atom <= DW_OP_breg31 &&
             ops[i].atom - DW_OP_breg0 == m->pc))
            return true;
    return false;
}

/* --- what .eh_frame says ------------------------------------------------------------------------
 */

enum place { UNTOUCHED, SAVED, UNDEFINED, ELSEWHERE };

/* Where the caller's value of a register is; *offset from the CFA, if it is saved. */
static enum place place_of(Dwarf_Frame *frame, int number, const struct machine *m, uint64_t pc,
                           int64_t *offset)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    struct value at;

    if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
        return ELSEWHERE;
    if (count == 0)
        return ops == NULL ? UNTOUCHED : UNDEFINED;
    if (number == m->sp && count >= 2 && ops[count - 1].atom == DW_OP_stack_value) {
        at = evaluate(ops, count - 1, m, 0, pc, 0);
        return at.known && at.n == 0 ? UNTOUCHED : ELSEWHERE; /* it is the CFA */
    }
    for (size_t i = 0; i < count; i++)
        if (ops[i].atom != DW_OP_call_frame_cfa && ops[i].atom != DW_OP_plus_uconst)
            return ELSEWHERE;
    at = evaluate(ops, count, m, 0, pc, 0);
    *offset = (int64_t)at.n;
    return at.known && ops[0].atom == DW_OP_call_frame_cfa ? SAVED : ELSEWHERE;
}

static bool find_cfa(struct answer *out, const Dwarf_Op *ops, size_t count, const struct machine *m,
                     uint64_t pc)
{
    const struct value a = evaluate(ops, count, m, 0, pc, 0), b = evaluate(ops, count, m, 1, pc, 0);
    const int registers[] = { m->sp, m->fp };

    for (int i = 0; i < 2; i++) {
        uint64_t number = (uint64_t)registers[i];

        if (!a.known || !b.known ||
            a.n - register_value(0, number) != b.n - register_value(1, number))
            continue;
        out->base = i == 0 ? SFB_BASE_SP : SFB_BASE_FP;
        out->cfa = (int64_t)(a.n - register_value(0, number));
        return out->cfa == (int32_t)out->cfa;
    }
    return false;
}

static struct answer from_frame(Dwarf_Frame *frame, const struct machine *m, uint64_t pc)
{
    struct answer a = { .given = false };
    int64_t ignored = 0;
    Dwarf_Op *ops;
    size_t count;
    bool signal;
    enum place ra, fp;

    if (dwarf_frame_info(frame, NULL, NULL, &signal) < 0 || signal ||
        dwarf_frame_cfa(frame, &ops, &count) != 0 || !find_cfa(&a, ops, count, m, pc))
        return a;
    if (a.base == SFB_BASE_SP && a.cfa < (m->amd64 ? 8 : 0))
        return a;
    ra = place_of(frame, m->ra, m, pc, &a.ra);
    fp = place_of(frame, m->fp, m, pc, &a.fp);
    if (ra == UNDEFINED || ra == ELSEWHERE || fp == ELSEWHERE ||
        place_of(frame, m->sp, m, pc, &ignored) != UNTOUCHED)
        return a;
    if (m->amd64 ? ra != SAVED || a.ra != -8 : ra != SAVED && fp == SAVED)
        return a;
    a.ra_saved = ra == SAVED;
    a.fp_saved = fp == SAVED;
    a.given = a.fp == (int32_t)a.fp && a.ra == (int32_t)a.ra;
    return a;
}

/* --- what .sframe says --------------------------------------------------------------------------
 */

static struct answer from_section(const struct sfb_section *section, uint64_t pc)
{
    struct answer a = { .given = false };
    struct sfb_rule rule;
    enum sfb_status status = sfb_section_find(section, pc, &rule, NULL);

    if (status == SFB_NO_FDE || status == SFB_NO_FRE)
        return a;
    if (status != SFB_OK) {
        printf("0x%" PRIx64 ": %s\n", pc, sfb_status_str(status));
        return a;
    }
    a.given = true;
    a.flags = rule.flags;
    a.base = rule.cfa_base;
    a.cfa = rule.cfa_offset;
    a.ra_saved = rule.ra.where == SFB_WHERE_CFA;
    a.ra = rule.ra.offset;
    a.fp_saved = rule.fp.where == SFB_WHERE_CFA;
    a.fp = rule.fp.offset;
    return a;
}

static bool same(const struct answer *a, const struct answer *b)
{
    if (!a->given || !b->given)
        return a->given == b->given;
    return a->base == b->base && a->cfa == b->cfa && a->ra_saved == b->ra_saved &&
           (!a->ra_saved || a->ra == b->ra) && a->fp_saved == b->fp_saved &&
           (!a->fp_saved || a->fp == b->fp);
}

static void print_answer(const char *who, const struct answer *a)
{
    printf("%s", who);
    if (!a->given) {
        printf(" nothing");
        return;
    }
    printf(" %s%+" PRId64, a->base == SFB_BASE_SP ? "sp" : "fp", a->cfa);
    if (a->ra_saved)
        printf(" ra c%+" PRId64, a->ra);
    if (a->fp_saved)
        printf(" fp c%+" PRId64, a->fp);
    if (a->flags)
        printf(" flags 0x%x", a->flags);
}

/* One line for a stretch of bytes that differ in the same way. */
static void list(struct counts *counts, uint64_t pc, const struct answer *want,
                 const struct answer *got, const char *other)
{
    static uint64_t next, lines;
    static struct answer last[2];

    counts->differences++;
    if (pc == next && same(&last[0], want) && same(&last[1], got)) {
        next = pc + 1;
        return;
    }
    next = pc + 1;
    last[0] = *want;
    last[1] = *got;
    if (++lines > LISTED_MAX)
        return;
    printf("0x%" PRIx64 ": ", pc);
    print_answer(other, want);
    print_answer(", .sframe", got);
    printf("\n");
}

/* --- the two comparisons -------------------------------------------------------------------------
 */

static void compare_byte(struct counts *counts, const struct file *f, uint64_t pc,
                         const struct answer *want)
{
    struct answer got = from_section(&f->section, pc);

    counts->bytes++;
    counts->expressible += got.given;
    if (!same(want, &got))
        list(counts, pc, want, &got, ".eh_frame");
}

/* Rows of libdw from start on, until end; what no entry covers must not be in .sframe either. */
static void compare_code(struct counts *counts, const struct file *f, uint64_t start, uint64_t end)
{
    const struct answer nothing = { .given = false };

    while (start < end) {
        Dwarf_Frame *frame = NULL;
        Dwarf_Addr from, to;
        Dwarf_Op *ops;
        size_t count;
        struct answer want;
        bool varies;

        if (dwarf_cfi_addrframe(f->cfi, start, &frame) != 0) {
            compare_byte(counts, f, start++, &nothing);
            continue;
        }
        if (dwarf_frame_info(frame, &from, &to, NULL) < 0 || to <= start)
            die("libdw gives an empty row", "row");
        varies = dwarf_frame_cfa(frame, &ops, &count) == 0 && mentions_pc(ops, count, &f->machine);
        want = from_frame(frame, &f->machine, start);
        for (; start < to && start < end; start++) {
            if (varies)
                want = from_frame(frame, &f->machine, start);
            compare_byte(counts, f, start, &want);
        }
        free(frame);
    }
}

static void compare_with_eh_frame(struct counts *counts, const struct file *f)
{
    size_t count = 0;

    if (elf_getphdrnum(f->elf, &count) != 0)
        die("no program headers", "file");
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;

        if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_LOAD && (p.p_flags & PF_X))
            compare_code(counts, f, p.p_vaddr, p.p_vaddr + p.p_filesz);
    }
}

/* At every byte that the section of the file covers: elsewhere the other one may well know more. */
static void compare_with_section(struct counts *counts, const struct file *f,
                                 const struct sfb_section *other)
{
    for (uint32_t i = 0; i < f->section.fde_count; i++) {
        struct sfb_fde fde;

        if (sfb_fde_read(&f->section, i, &fde, NULL) != SFB_OK)
            die("a bad entry", ".sframe");
        for (uint64_t pc = fde.start; pc < fde.start + fde.size; pc++) {
            struct answer want = from_section(other, pc), got = from_section(&f->section, pc);

            counts->bytes++;
            counts->expressible += got.given;
            if (!same(&want, &got) || (want.given && want.flags != got.flags))
                list(counts, pc, &want, &got, "synth");
        }
    }
}

/* --- files ---------------------------------------------------------------------------------------
 */

static void open_section(struct file *f, const char *name)
{
    Elf_Scn *section = NULL;
    size_t names = 0;

    if (elf_getshdrstrndx(f->elf, &names) != 0)
        die("no sections", name);
    while ((section = elf_nextscn(f->elf, section)) != NULL) {
        GElf_Shdr s;
        Elf_Data *data;

        if (!gelf_getshdr(section, &s) ||
            strcmp(elf_strptr(f->elf, names, s.sh_name), ".sframe") != 0)
            continue;
        data = elf_rawdata(section, NULL);
        if (!data || sfb_section_open(&f->section, data->d_buf, data->d_size, s.sh_addr, NULL))
            die("bad .sframe", name);
        return;
    }
    die("no .sframe", name);
}

static void open_file(struct file *f, const char *name)
{
    int fd = open(name, O_RDONLY);

    elf_version(EV_CURRENT);
    f->elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    if (!f->elf || !gelf_getehdr(f->elf, &f->header))
        die("not an ELF file", name);
    f->machine = f->header.e_machine == EM_X86_64
                     ? (struct machine){ .sp = 7, .fp = 6, .ra = 16, .pc = 16, .amd64 = true }
                     : (struct machine){ .sp = 31, .fp = 29, .ra = 30, .pc = 32 };
    open_section(f, name);
    f->cfi = dwarf_getcfi_elf(f->elf);
    if (!f->cfi)
        die("libdw finds no .eh_frame", name);
}

static uint8_t *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    uint8_t *bytes = NULL;
    long end;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0)
        die("cannot be read", name);
    *size = (size_t)end;
    bytes = malloc(*size + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        die("cannot be read", name);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    struct counts counts = { 0 };
    struct file f = { .elf = NULL };

    if (argc != 2 && argc != 4)
        die("FILE or FILE SECTION VMA", "usage");
    open_file(&f, argv[1]);
    if (argc == 2) {
        compare_with_eh_frame(&counts, &f);
    } else {
        size_t size;
        uint8_t *bytes = read_file(argv[2], &size);
        struct sfb_section other;

        if (sfb_section_open(&other, bytes, size, strtoull(argv[3], NULL, 0), NULL) != SFB_OK)
            die("bad section", argv[2]);
        compare_with_section(&counts, &f, &other);
        free(bytes);
    }
    printf("%" PRIu64 " bytes of code, %" PRIu64 " with rows, %" PRIu64 " differences\n",
           counts.bytes, counts.expressible, counts.differences);
    dwarf_cfi_end(f.cfi);
    elf_end(f.elf);
    return counts.differences > 0;
}
