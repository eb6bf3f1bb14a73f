/*
 * All entries of .eh_frame, and their rows, against what elfutils' libdw says of them:
 *
 *     test-golden-eh_frame_walk [-v] FILE...
 *
 * Programs and libraries, also without .eh_frame_hdr, and object files, with relocations applied to
 * a copy. libdw is given a file in memory that has this section and nothing else. Both go
 * from entry to entry; the same entries have to come, with the same code, and their rows have to say
 * the same at the start of each (support/libdw_rows.h computes what they say).
 *
 * Counted, and no differences: rows that no rule can state, where libdw's expression is no simple one
 * either; rows that libdw refuses; rows of code that another entry covers, too.
 */
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rule_rows.h"
#include "symbols/eh_frame.h"
#include "symbols/relocate.h"

enum { SHOWN_MAX = 3 };

static bool verbose;

static struct {
    size_t files, objects, without_table, none;
    size_t entries, rows, differences;
    size_t not_expressible, refused, no_word, shared;
} count;

struct file {
    const char *path;
    struct object object;
    struct object_cfi_place place;
    struct object_copy copy; /* of the section */
    struct sfb_eh_frame_walk walk;
    struct registers known;
    uint8_t *image; /* the file that libdw reads */
    Elf *elf;
    Elf_Data *data; /* of the section, in that file */
    Dwarf_CFI *libdw;
    uint64_t end; /* where the code ends of all entries so far */
    unsigned shown;
};

static void differ(struct file *f, uint64_t at, const char *what)
{
    count.differences++;
    if (verbose || f->shown++ < SHOWN_MAX)
        printf("%s: %#" PRIx64 ": %s\n", f->path, at, what);
}

/* ---- a file for libdw ---- */

/* Names of the three sections: none, .eh_frame, and these names. */
static const char names[] = "\0.eh_frame\0.names";

static void put(const struct file *f, uint8_t *to, Elf_Type type, void *from, size_t size)
{
    const unsigned char data = f->object.big ? ELFDATA2MSB : ELFDATA2LSB;
    Elf_Data source = { .d_buf = from, .d_type = type, .d_size = size, .d_version = EV_CURRENT };
    Elf_Data target = { .d_buf = to, .d_type = type, .d_size = size, .d_version = EV_CURRENT };

    elf64_xlatetof(&target, &source, data);
}

/* Header, section, names, section headers, each aligned. */
static bool make_image(struct file *f)
{
    const uint64_t size = f->copy.size, section_at = sizeof(Elf64_Ehdr);
    const uint64_t names_at = (section_at + size + 7) & ~7ull;
    const uint64_t headers_at = (names_at + sizeof names + 7) & ~7ull;
    Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                          .e_type = ET_DYN,
                          .e_machine = f->object.header.e_machine,
                          .e_version = EV_CURRENT,
                          .e_shoff = headers_at,
                          .e_ehsize = sizeof header,
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = 3,
                          .e_shstrndx = 2 };
    Elf64_Shdr sections[3] = { { .sh_name = 0 },
                               { .sh_name = 1,
                                 .sh_type = SHT_PROGBITS,
                                 .sh_flags = SHF_ALLOC,
                                 .sh_addr = f->place.address,
                                 .sh_offset = section_at,
                                 .sh_size = size,
                                 .sh_addralign = 1 },
                               { .sh_name = 11,
                                 .sh_type = SHT_STRTAB,
                                 .sh_offset = names_at,
                                 .sh_size = sizeof names,
                                 .sh_addralign = 1 } };

    if (f->object.big)
        header.e_ident[EI_DATA] = ELFDATA2MSB;
    f->image = calloc(1, headers_at + sizeof sections);
    if (!f->image)
        return false;
    put(f, f->image, ELF_T_EHDR, &header, sizeof header);
    put(f, f->image + headers_at, ELF_T_SHDR, sections, sizeof sections);
    memcpy(f->image + section_at, f->copy.bytes, size);
    memcpy(f->image + names_at, names, sizeof names);
    f->elf = elf_memory((char *)f->image, headers_at + sizeof sections);
    f->data = f->elf ? elf_rawdata(elf_getscn(f->elf, 1), NULL) : NULL;
    f->libdw = f->data ? dwarf_getcfi_elf(f->elf) : NULL;
    return f->libdw != NULL;
}

/* ---- rows ---- */

static void compare_rule(struct file *f, uint64_t pc, const struct sfb_rule *rule,
                         const struct row *theirs)
{
    const struct row ours = rule_row(rule, f->known);

    if (ours.signal != theirs->signal)
        differ(f, pc, "a signal frame to one reader only");
    if (rule->flags & SFB_RULE_OUTERMOST) {
        if (theirs->ra.kind != UNDEFINED)
            differ(f, pc, "outermost, and not to libdw");
        return;
    }
    if (!said_equal(ours.cfa, theirs->cfa))
        differ(f, pc, "CFA differs");
    if (theirs->ra.kind == UNDEFINED && is_unmoved(ours.ra, theirs->ra_column))
        count.no_word++;
    else if (!said_equal(ours.ra, theirs->ra))
        differ(f, pc, "RA differs");
    if (!(ours.fp.kind == SAME && theirs->fp.kind == UNDEFINED) && !said_equal(ours.fp, theirs->fp))
        differ(f, pc, "fp differs");
    if (!said_equal(ours.sp, theirs->sp))
        differ(f, pc, "sp differs");
}

static void compare_row(struct file *f, const struct sfb_cfi_rows *rows, uint64_t pc)
{
    struct row theirs = { .end = 0 };
    struct sfb_rule rule;
    enum sfb_status status;

    count.rows++;
    if (libdw_row_at(&theirs, f->libdw, pc, f->known) != LIBDW_ROW) {
        count.refused++;
        return;
    }
    status = sfb_cfi_rows_rule(rows, pc, &rule, NULL);
    if (status == SFB_OK)
        compare_rule(f, pc, &rule, &theirs);
    else if (status == SFB_NOT_EXPRESSIBLE && (!theirs.simple || theirs.cfa.kind != VALUE))
        count.not_expressible++;
    else
        differ(f, pc, "libdw has a row, and the reader has none");
    if (!rows->varies && theirs.end < rows->end)
        differ(f, pc, "libdw's row ends before");
}

static void compare_rows(struct file *f, const struct sfb_cfi_fde *fde)
{
    static struct sfb_cfi_rows rows;
    enum sfb_status status = sfb_cfi_rows_init(&rows, &f->walk.eh, fde, NULL);

    /* libdw finds an entry by a pc, and may find another one. */
    if (fde->start < f->end && fde->end > fde->start) {
        count.shared++;
        return;
    }
    f->end = fde->end;
    while (status == SFB_OK && (status = sfb_cfi_rows_next(&rows, NULL)) == SFB_OK)
        for (uint64_t pc = rows.start; pc < rows.end; pc++) {
            compare_row(f, &rows, pc);
            if (!rows.varies)
                break;
        }
    if (status != SFB_END) {
        struct row theirs;

        if (libdw_row_at(&theirs, f->libdw, rows.end, f->known) == LIBDW_ROW)
            differ(f, rows.end, "the rows end, and not to libdw");
        else
            count.refused++;
    }
}

/* ---- entries ---- */

static int by_start(const void *a, const void *b)
{
    const struct sfb_cfi_fde *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The walk's next entry has to be this one. */
static void compare_entry(struct file *f, Dwarf_Off offset, const Dwarf_FDE *entry,
                          struct sfb_cfi_fde *fde)
{
    struct sfb_error error = { SFB_OK, "", 0 };
    uint64_t start, end;

    if (sfb_eh_frame_walk_next(&f->walk, fde, &error) != SFB_OK || fde->offset != offset) {
        differ(f, f->place.address + offset, "the walk does not come to the entry");
        fde->start = fde->end = 0;
    } else if (!libdw_code_of(entry, f->image, f->data, f->place.address, &start, &end) ||
               fde->start != start || fde->end != end) {
        differ(f, f->place.address + offset, "the code of the entry differs");
    }
}

/* @return the entries, to be freed */
static struct sfb_cfi_fde *compare_entries(struct file *f, size_t *found)
{
    struct sfb_cfi_fde *all = calloc(f->copy.size / 8 + 1, sizeof *all), more;
    Dwarf_Off offset = 0, next;
    Dwarf_CFI_Entry entry;
    int result;

    *found = 0;
    while (all && (result = dwarf_next_cfi(f->image, f->data, true, offset, &next, &entry)) != 1) {
        if (result == 0 && !dwarf_cfi_cie_p(&entry))
            compare_entry(f, offset, &entry.fde, &all[(*found)++]);
        if (next <= offset) /* a terminator, which libdw takes for an error */
            next = offset + 4;
        offset = next;
    }
    if (sfb_eh_frame_walk_next(&f->walk, &more, NULL) != SFB_END)
        differ(f, f->place.address + more.offset, "libdw does not come to the entry");
    return all;
}

static void compare_file(struct file *f)
{
    struct sfb_cfi_fde *all;
    size_t found;

    f->known = f->object.abi == SFB_ABI_AMD64_LE
                   ? (struct registers){ .sp = 7, .fp = 6, .pc = 16 }
                   : (struct registers){ .sp = 31, .fp = 29, .pc = 32 };
    all = compare_entries(f, &found);
    if (!all) {
        differ(f, 0, "no memory");
        return;
    }
    qsort(all, found, sizeof *all, by_start);
    for (size_t i = 0; i < found; i++)
        compare_rows(f, &all[i]);
    count.files++;
    count.entries += found;
    count.objects += f->object.relocatable;
    count.without_table += !f->object.relocatable && !object_segment(&f->object, PT_GNU_EH_FRAME);
    free(all);
}

/* ---- files ---- */

static bool open_section(struct file *f)
{
    f->place = object_find_cfi(&f->object);
    if (f->place.result != OBJECT_CFI_FOUND || f->place.section == 0)
        return false;
    return object_relocate(&f->copy, &f->object, f->place.section) &&
           sfb_eh_frame_walk_init(&f->walk, f->copy.bytes, f->copy.size, f->place.address,
                                  (enum sfb_abi)f->object.abi) == SFB_OK &&
           make_image(f);
}

static bool read_file(const char *path, uint8_t **bytes, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long end = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        end = ftell(file);
    *bytes = end > 0 ? malloc((size_t)end) : NULL;
    *size = 0;
    if (*bytes && fseek(file, 0, SEEK_SET) == 0)
        *size = fread(*bytes, 1, (size_t)end, file);
    if (file)
        fclose(file);
    return *bytes && *size == (size_t)end;
}

static bool look_at(const char *path)
{
    struct file f = { .path = path };
    struct object_fault fault;
    uint8_t *bytes;
    size_t size;
    bool read = read_file(path, &bytes, &size);

    if (read && object_open(&f.object, &fault, bytes, size)) {
        object_lay_out(&f.object);
        if (open_section(&f))
            compare_file(&f);
        else
            count.none++;
        if (f.libdw)
            dwarf_cfi_end(f.libdw);
        elf_end(f.elf);
        free(f.image);
        object_copy_free(&f.copy);
        object_close(&f.object);
    }
    free(bytes);
    return read;
}

int main(int argc, char **argv)
{
    int first = 1, failed = 0;

    if (argc > 1 && strcmp(argv[1], "-v") == 0) {
        verbose = true;
        first++;
    }
    for (int i = first; i < argc; i++)
        if (!look_at(argv[i])) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            failed = 1;
        }
    printf("%zu files (%zu object files, %zu without a table), %zu without .eh_frame\n",
           count.files, count.objects, count.without_table, count.none);
    printf("%zu entries, %zu rows: %zu differences\n", count.entries, count.rows,
           count.differences);
    printf(
        "no differences: %zu not expressible, %zu refused by libdw, %zu no word on RA; %zu entries "
        "whose code is another one's\n",
        count.not_expressible, count.refused, count.no_word, count.shared);
    return failed || count.differences > 0 || count.objects == 0 || count.without_table == 0;
}
