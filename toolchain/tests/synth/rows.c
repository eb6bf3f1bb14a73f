/*
 * Compares .sframe, at every byte of code, with independent data:
 *
 *     test-synth-rows FILE              with .eh_frame of FILE as elfutils reads it (libdw)
 *     test-synth-rows FILE SECTION VMA  with the bytes of another section, for the same code
 *
 * With libdw every row that the section's version can state must be in .sframe, and no other:
 * eh_frame.h. Differences are listed, a line each; the last line is the sum. Exit status 0: no
 * differences, 1: some, 2: failure.
 *
 * Not compared, because libdw lacks it: signed return addresses.
 */
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eh_frame.h"
#include "section.h"

enum { LISTED_MAX = 40 };

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

/* --- differences ----------------------------------------------------------------------------- */

/* One line for a stretch of bytes with the same difference. */
static void list(struct counts *counts, const struct machine *m, uint64_t pc,
                 const struct answer *want, const struct answer *got, const char *other)
{
    static uint64_t next, lines;
    static struct answer last[2];

    counts->differences++;
    if (pc == next && answer_same(&last[0], want) && answer_same(&last[1], got)) {
        next = pc + 1;
        return;
    }
    next = pc + 1;
    last[0] = *want;
    last[1] = *got;
    if (++lines > LISTED_MAX)
        return;
    printf("0x%" PRIx64 ": ", pc);
    answer_print(other, m, want);
    answer_print(", .sframe", m, got);
    printf("\n");
}

/* --- the two comparisons -------------------------------------------------------------------------
 */

static void compare_byte(struct counts *counts, const struct file *f, uint64_t pc,
                         const struct answer *want)
{
    struct answer got = section_answer(&f->section, &f->machine, pc);

    counts->bytes++;
    counts->expressible += got.given;
    if (!answer_same(want, &got))
        list(counts, &f->machine, pc, want, &got, ".eh_frame");
}

/* Rows of libdw from start to end; code without an entry must not be in .sframe either. */
static void compare_code(struct counts *counts, const struct file *f, uint64_t start, uint64_t end)
{
    const struct answer nothing = { .given = false };

    while (start < end) {
        Dwarf_Frame *frame = NULL;
        Dwarf_Addr from, to;
        struct answer want;
        bool varies;

        if (dwarf_cfi_addrframe(f->cfi, start, &frame) != 0) {
            compare_byte(counts, f, start++, &nothing);
            continue;
        }
        if (dwarf_frame_info(frame, &from, &to, NULL) < 0 || to <= start)
            die("libdw gives an empty row", "row");
        varies = eh_frame_varies(frame, &f->machine);
        want = eh_frame_answer(frame, &f->machine, f->section.version, start);
        for (; start < to && start < end; start++) {
            if (varies)
                want = eh_frame_answer(frame, &f->machine, f->section.version, start);
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

/* At every byte that the file's section covers: elsewhere the other one may have rows. */
static void compare_with_section(struct counts *counts, const struct file *f,
                                 const struct sfb_section *other)
{
    for (uint32_t i = 0; i < f->section.fde_count; i++) {
        struct sfb_fde fde;

        if (sfb_fde_read(&f->section, i, &fde, NULL) != SFB_OK)
            die("a bad entry", ".sframe");
        for (uint64_t pc = fde.start; pc < fde.start + fde.size; pc++) {
            struct answer want = section_answer(other, &f->machine, pc),
                          got = section_answer(&f->section, &f->machine, pc);

            counts->bytes++;
            counts->expressible += got.given;
            if (!answer_same(&want, &got) || (want.given && want.flags != got.flags))
                list(counts, &f->machine, pc, &want, &got, "synth");
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
