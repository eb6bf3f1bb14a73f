/*
 * Rows of .eh_frame against what elfutils' libdw says of them:
 *
 *     test-golden-eh_frame_rows [-v] FILE-OR-FOLDER...
 *
 * In every ELF file, every entry of .eh_frame is asked for at the start of each row, of ours and of
 * libdw's, and at the bytes before and behind its code. The CFA, the return address, fp and sp are
 * compared as numbers (support/libdw_rows.h), so that no form has to equal another. What libdw does
 * not say: whether the return address is signed (it passes over the instruction), and whether a
 * register is undefined or was never mentioned.
 *
 * These are counted, and no differences:
 *
 *     not expressible     libdw's expression has two registers, or a load behind a load
 *     refused by libdw    invalid CFI to it; -v says which, to be looked at with readelf -wF
 *     no word on RA       "undefined" to libdw because no instruction speaks of it
 *     fp undefined        a rule says "the same", as libgcc does
 *     lost                libdw reads all entries and finds one, the sorted table has none
 *
 * -v prints every line, not the first few of a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sfb/eh_frame.h"
#include "support/rule_rows.h"

enum { SHOWN_MAX = 3, VARYING = 32 };

static bool verbose;

static struct {
    size_t files, other_files, without_header, split;
    size_t entries, rows, pcs, differences;
    size_t outermost, general, signal;
    size_t not_expressible, refused, no_word, undefined, lost;
} count;

/* One file while it is looked at. */
struct file {
    const char *path;
    Elf *elf;
    const uint8_t *image;
    size_t image_size;
    GElf_Ehdr header;
    GElf_Shdr frames; /* the section .eh_frame */
    Elf_Data *frames_data;
    Dwarf_CFI *libdw;
    struct registers known;
    struct sfb_eh_frame eh;
    uint8_t *copy; /* of the segments, where the two sections lie in different ones */
    size_t copy_size;
    unsigned shown;
};

__attribute__((format(printf, 3, 4))) static void note(struct file *f, uint64_t pc,
                                                       const char *format, ...)
{
    va_list arguments;

    if (!verbose && f->shown++ >= SHOWN_MAX)
        return;
    printf("%s: %#" PRIx64 ": ", f->path, pc);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

static void differ(struct file *f, uint64_t pc, const char *what)
{
    count.differences++;
    note(f, pc, "%s differs", what);
}

/* ---- a row ---- */

static void compare_rows(struct file *f, uint64_t pc, const struct sfb_rule *rule,
                         const struct row *theirs)
{
    const struct row ours = rule_row(rule, f->known);

    count.signal += ours.signal;
    if (ours.signal != theirs->signal)
        differ(f, pc, "signal frame");
    if (rule->flags & SFB_RULE_OUTERMOST) {
        count.outermost++;
        if (theirs->ra.kind != UNDEFINED)
            differ(f, pc, "outermost");
        return;
    }
    count.general += (rule->flags & SFB_RULE_ANY_REGISTER) != 0;
    if (!said_equal(ours.cfa, theirs->cfa))
        differ(f, pc, "CFA");
    if (theirs->ra.kind == UNDEFINED && is_unmoved(ours.ra, theirs->ra_column)) {
        count.no_word++;
        if (verbose)
            note(f, pc, "no word on RA");
    } else if (!said_equal(ours.ra, theirs->ra)) {
        differ(f, pc, "RA");
    }
    if (ours.fp.kind == SAME && theirs->fp.kind == UNDEFINED)
        count.undefined++;
    else if (!said_equal(ours.fp, theirs->fp))
        differ(f, pc, "fp");
    if (!said_equal(ours.sp, theirs->sp))
        differ(f, pc, "sp");
}

/* Whether an entry that the sorted table names covers a pc: all of them are read. */
static bool is_in_table(const struct sfb_eh_frame *eh, uint64_t pc)
{
    struct sfb_cfi_fde fde;

    for (uint32_t i = 0; i < eh->count; i++)
        if (sfb_eh_frame_fde(eh, i, &fde, NULL) == SFB_OK && pc >= fde.start && pc < fde.end)
            return true;
    return false;
}

/* Of a row that libdw has. */
static void compare_answers(struct file *f, uint64_t pc, const struct row *theirs)
{
    struct sfb_error error = { SFB_OK, "", 0 };
    struct sfb_rule rule;
    const enum sfb_status status = sfb_eh_frame_find(&f->eh, pc, &rule, &error);

    if (status == SFB_OK) {
        compare_rows(f, pc, &rule, theirs);
    } else if (status == SFB_NOT_EXPRESSIBLE && !theirs->simple) {
        count.not_expressible++;
        if (verbose)
            note(f, pc, "not expressible");
    } else if (status == SFB_NO_CFI && !is_in_table(&f->eh, pc)) {
        count.lost++;
        note(f, pc, "lost: in .eh_frame, and not in the sorted table");
    } else {
        count.differences++;
        note(f, pc, "%s (%s at %#" PRIx64 "), and libdw has a row", sfb_status_str(status),
             error.field, error.offset);
    }
}

/* @return the end of libdw's row, 0 if it has none */
static uint64_t compare_at(struct file *f, uint64_t pc)
{
    struct row theirs = { .end = 0 };
    struct sfb_rule rule;

    count.pcs++;
    switch (libdw_row_at(&theirs, f->libdw, pc, f->known)) {
    case LIBDW_ROW: compare_answers(f, pc, &theirs); break;
    case LIBDW_NO_ENTRY:
        if (sfb_eh_frame_find(&f->eh, pc, &rule, NULL) != SFB_NO_CFI)
            differ(f, pc, "that there is an entry");
        break;
    case LIBDW_REFUSES:
        count.refused++;
        note(f, pc, "refused by libdw; here: %s",
             sfb_status_str(sfb_eh_frame_find(&f->eh, pc, &rule, NULL)));
        break;
    }
    return theirs.end;
}

/* ---- an entry ---- */

/* The end of the row of ours that holds at pc. */
static uint64_t row_end(struct sfb_cfi_rows *rows, uint64_t pc, uint64_t end)
{
    while (rows->end <= pc)
        if (sfb_cfi_rows_next(rows, NULL) != SFB_OK)
            return end;
    return rows->end;
}

static void compare_entry(struct file *f, Dwarf_Off offset, const Dwarf_FDE *entry)
{
    static struct sfb_cfi_rows rows;
    struct sfb_cfi_fde fde;
    uint64_t start, end, pc;
    bool good;

    count.entries++;
    if (!libdw_code_of(entry, (const unsigned char *)f->header.e_ident, f->frames_data,
                       f->frames.sh_addr, &start, &end)) {
        differ(f, f->frames.sh_addr + offset, "that the entry's addresses can be read");
        return;
    }
    compare_at(f, start - 1);
    compare_at(f, end);
    if (sfb_eh_frame_fde_find(&f->eh, start, &fde, NULL) != SFB_OK ||
        f->eh.address + fde.offset != f->frames.sh_addr + offset) {
        compare_at(f, start);
        return;
    }
    if (fde.start != start || fde.end != end)
        differ(f, start, "the entry's code");
    good = sfb_cfi_rows_init(&rows, &f->eh, &fde, NULL) == SFB_OK;
    for (pc = start; pc < end; count.rows++) {
        uint64_t theirs = compare_at(f, pc), ours = good ? row_end(&rows, pc, end) : end;

        /* Expressions of linkage stubs count in the pc, modulo 16. */
        for (uint64_t i = 1; i < VARYING && rows.varies && pc + i < ours; i++)
            compare_at(f, pc + i);
        pc = theirs > pc && theirs < ours ? theirs : ours;
    }
}

static void compare_entries(struct file *f)
{
    Dwarf_Off offset = 0, next;
    Dwarf_CFI_Entry entry;
    int result;

    while ((result = dwarf_next_cfi((const unsigned char *)f->header.e_ident, f->frames_data, true,
                                    offset, &next, &entry)) != 1) {
        if (result != 0)
            note(f, f->frames.sh_addr + offset, "libdw: %s", dwarf_errmsg(-1));
        else if (!dwarf_cfi_cie_p(&entry))
            compare_entry(f, offset, &entry.fde);
        if (next <= offset)
            break;
        offset = next;
    }
}

/* ---- a file ---- */

static bool find_frames(struct file *f)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(f->elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(f->elf, section)) != NULL) {
        const char *name =
            gelf_getshdr(section, &f->frames) ? elf_strptr(f->elf, names, f->frames.sh_name) : NULL;

        if (name && strcmp(name, ".eh_frame") == 0 && f->frames.sh_type != SHT_NOBITS) {
            f->frames_data = elf_rawdata(section, NULL);
            return f->frames_data != NULL && f->frames_data->d_size > 0;
        }
    }
    return false;
}

/* The first of a type; for PT_LOAD, the one that has an address. */
static bool find_segment(struct file *f, GElf_Phdr *out, uint32_t type, uint64_t address)
{
    size_t number;

    if (elf_getphdrnum(f->elf, &number) != 0)
        return false;
    for (int i = 0; i < (int)number; i++)
        if (gelf_getphdr(f->elf, i, out) && out->p_type == type &&
            (type != PT_LOAD ||
             (address - out->p_vaddr < out->p_filesz && out->p_offset <= f->image_size &&
              out->p_filesz <= f->image_size - out->p_offset)))
            return true;
    return false;
}

/* One stretch of memory with both segments in it, as a process has it. */
static bool map_segments(struct file *f, const GElf_Phdr *low, const GElf_Phdr *high)
{
    void *map;

    f->copy_size = high->p_vaddr + high->p_filesz - low->p_vaddr;
    map = mmap(NULL, f->copy_size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    f->copy = map;
    memcpy(f->copy, f->image + low->p_offset, low->p_filesz);
    memcpy(f->copy + (high->p_vaddr - low->p_vaddr), f->image + high->p_offset, high->p_filesz);
    return true;
}

static bool open_view(struct file *f, enum sfb_abi abi)
{
    struct sfb_error error = { SFB_OK, "", 0 };
    GElf_Phdr header, a, b;
    const uint8_t *data;
    uint64_t address, size;
    enum sfb_status status;

    if (!find_segment(f, &header, PT_GNU_EH_FRAME, 0) ||
        !find_segment(f, &a, PT_LOAD, header.p_vaddr) ||
        !find_segment(f, &b, PT_LOAD, f->frames.sh_addr)) {
        count.without_header++;
        note(f, f->frames.sh_addr, "no PT_GNU_EH_FRAME");
        return false;
    }
    data = f->image + a.p_offset;
    size = a.p_filesz;
    address = a.p_vaddr;
    if (a.p_vaddr != b.p_vaddr) {
        count.split++;
        note(f, header.p_vaddr, ".eh_frame and its header are in two segments");
        if (a.p_vaddr < b.p_vaddr ? !map_segments(f, &a, &b) : !map_segments(f, &b, &a))
            return false;
        data = f->copy;
        size = f->copy_size;
        address = a.p_vaddr < b.p_vaddr ? a.p_vaddr : b.p_vaddr;
    }
    status = sfb_eh_frame_open(&f->eh, data, size, address, header.p_vaddr, abi, &error);
    if (status != SFB_OK) {
        count.differences++;
        note(f, header.p_vaddr, "%s (%s)", sfb_status_str(status), error.field);
    }
    return status == SFB_OK;
}

static bool set_abi(struct file *f, enum sfb_abi *out)
{
    const GElf_Ehdr *h = &f->header;

    if (h->e_ident[EI_CLASS] != ELFCLASS64 || (h->e_type != ET_EXEC && h->e_type != ET_DYN))
        return false;
    if (h->e_machine == EM_X86_64) {
        *out = SFB_ABI_AMD64_LE;
        f->known = (struct registers){ .sp = 7, .fp = 6, .pc = 16 };
    } else {
        *out = h->e_ident[EI_DATA] == ELFDATA2MSB ? SFB_ABI_AARCH64_BE : SFB_ABI_AARCH64_LE;
        f->known = (struct registers){ .sp = 31, .fp = 29, .pc = 32 };
    }
    return h->e_machine == EM_X86_64 || h->e_machine == EM_AARCH64;
}

static void compare_elf(struct file *f)
{
    enum sfb_abi abi;

    if (!gelf_getehdr(f->elf, &f->header))
        return;
    if (!set_abi(f, &abi) || !find_frames(f)) {
        count.other_files++;
        return;
    }
    f->image = (const uint8_t *)elf_rawfile(f->elf, &f->image_size);
    if (!f->image || !open_view(f, abi))
        return;
    f->libdw = dwarf_getcfi_elf(f->elf);
    if (f->libdw) {
        count.files++;
        compare_entries(f);
        dwarf_cfi_end(f->libdw);
    } else {
        note(f, 0, "libdw: %s", dwarf_errmsg(-1));
    }
}

static void compare_file(const char *path)
{
    struct file f = { .path = path };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return;
    f.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (f.elf && elf_kind(f.elf) == ELF_K_ELF)
        compare_elf(&f);
    elf_end(f.elf);
    if (f.copy)
        munmap(f.copy, f.copy_size);
    close(fd);
}

/* ---- folders ---- */

static int by_inode(const void *a, const void *b)
{
    const struct stat *x = a, *y = b;

    if (x->st_dev != y->st_dev)
        return x->st_dev < y->st_dev ? -1 : 1;
    return (x->st_ino > y->st_ino) - (x->st_ino < y->st_ino);
}

/* Every file once, under whatever names. */
static int visit(const char *path, const struct stat *found, int type, struct FTW *where)
{
    static void *seen;
    struct stat *mine;

    (void)where;
    if (type != FTW_F || !S_ISREG(found->st_mode) || tfind(found, &seen, by_inode))
        return 0;
    mine = malloc(sizeof *mine);
    *mine = *found;
    tsearch(mine, &seen, by_inode);
    compare_file(path);
    return 0;
}

int main(int argc, char **argv)
{
    int first = 1, failed = 0;

    if (argc > 1 && strcmp(argv[1], "-v") == 0) {
        verbose = true;
        first++;
    }
    if (first >= argc || elf_version(EV_CURRENT) == EV_NONE) {
        fprintf(stderr, "usage: %s [-v] FILE-OR-FOLDER...\n", argv[0]);
        return 2;
    }
    for (int i = first; i < argc; i++) {
        char *real = realpath(argv[i], NULL); /* links in folders are not followed */

        if (!real || nftw(real, visit, 32, FTW_PHYS) != 0) {
            fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
            failed = 1;
        }
        free(real);
    }
    printf("%zu files, %zu entries, %zu rows, %zu pcs: %zu differences\n", count.files,
           count.entries, count.rows, count.pcs, count.differences);
    printf("of these pcs: %zu outermost, %zu where only .eh_frame can say it, %zu in signal "
           "frames\n",
           count.outermost, count.general, count.signal);
    printf("no differences: %zu not expressible, %zu refused by libdw, %zu no word on RA, %zu fp "
           "undefined, %zu lost\n",
           count.not_expressible, count.refused, count.no_word, count.undefined, count.lost);
    printf("files: %zu with two segments, %zu without PT_GNU_EH_FRAME, %zu for other machines or "
           "without .eh_frame\n",
           count.split, count.without_header, count.other_files);
    return failed || count.differences > 0 || count.files == 0;
}
