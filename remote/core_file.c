#include "remote/core_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote/core_fault.h"
#include "util/read_all.h"

enum {
    SEGMENTS_MAX = 1 << 22, /* a process has as many mappings as vm.max_map_count allows: 65,530 */
    NOTES_MAX = 256 << 20,  /* of 20,000 threads with AVX-512 */
    PAGE = 4096,
    PAGES = 64
};

/* Words of one page are read one by one. */
struct remote_core_page {
    uint64_t offset; /* in the file; UINT64_MAX: empty */
    size_t size;
    uint8_t bytes[PAGE];
};

/* --- Bytes ---------------------------------------------------------------------------------------- */

static size_t read_paged(const struct remote_core_file *f, uint64_t offset, uint8_t *out,
                         size_t size)
{
    const uint64_t at = offset & ~(uint64_t)(PAGE - 1);
    struct remote_core_page *page = &f->pages[at / PAGE % PAGES];
    const size_t in = (size_t)(offset - at);

    if (page->offset != at) {
        page->offset = at;
        page->size = sfb_read_all_at(f->fd, page->bytes, PAGE, at);
    }
    if (in >= page->size)
        return 0;
    if (size > page->size - in)
        size = page->size - in;
    memcpy(out, page->bytes + in, size);
    return size;
}

/* @return bytes read, from an offset that lies in the file */
static size_t read_bytes(const struct remote_core_file *f, uint64_t offset, uint8_t *out,
                         size_t size)
{
    size_t done = 0;

    if (size >= PAGE)
        return sfb_read_all_at(f->fd, out, size, offset);
    while (done < size) {
        const size_t got = read_paged(f, offset + done, out + done, size - done);

        if (got == 0)
            break;
        done += got;
    }
    return done;
}

const struct remote_core_segment *remote_core_segment_at(const struct remote_core_file *f,
                                                         uint64_t address)
{
    size_t low = 0, high = f->segment_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (f->segments[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->segment_count && f->segments[low].start <= address ? &f->segments[low] : NULL;
}

size_t remote_core_file_read(const struct remote_core_file *f, uint64_t address, void *out,
                             size_t size)
{
    size_t done = 0;

    while (done < size) {
        const struct remote_core_segment *s = remote_core_segment_at(f, address + done);
        const uint64_t in = s ? address + done - s->start : 0;
        size_t wanted = size - done, got;

        if (!s || in >= s->present)
            break;
        if (wanted > s->present - in)
            wanted = (size_t)(s->present - in);
        got = read_bytes(f, s->offset + in, (uint8_t *)out + done, wanted);
        done += got;
        if (got < wanted)
            break;
    }
    return done;
}

/* --- Headers -------------------------------------------------------------------------------------- */

static const char *type_name(uint16_t type)
{
    switch (type) {
    case ET_EXEC:
    case ET_DYN: return "a program or a library";
    case ET_REL: return "an object file";
    default: return "an ELF file of another kind";
    }
}

static bool judge(struct remote_core_file *f, const Elf64_Ehdr *h, size_t got,
                  struct sfb_remote_fault *fault)
{
    const uint8_t *ident = h->e_ident;

    if (got < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return remote_core_fault(fault, "it is no ELF file");
    if (ident[EI_CLASS] != ELFCLASS64)
        return remote_core_fault(fault, "it is of 32 bits");
    if (ident[EI_DATA] != ELFDATA2LSB)
        return remote_core_fault(fault, "it is of a big-endian machine");
    if (got < sizeof *h)
        return remote_core_fault(fault, "it is cut off within its first 64 bytes");
    if (h->e_type != ET_CORE)
        return remote_core_fault(fault, "it is %s, not a core", type_name(h->e_type));
    if (h->e_machine != EM_X86_64 && h->e_machine != EM_AARCH64)
        return remote_core_fault(fault,
                                 "it is of machine %u: cores of x86-64 (62) and AArch64 (183) can "
                                 "be read",
                                 h->e_machine);
    if (h->e_phentsize != sizeof(Elf64_Phdr))
        return remote_core_fault(fault, "its program headers have %u bytes, not 56",
                                 h->e_phentsize);
    f->machine = h->e_machine;
    return true;
}

/* More than 65,534 stand in a section header: elf(5), PN_XNUM. @return false: that is not in the file */
static bool count_segments(const struct remote_core_file *f, const Elf64_Ehdr *h, size_t *count)
{
    Elf64_Shdr first;

    *count = h->e_phnum;
    if (h->e_phnum != PN_XNUM)
        return true;
    if (h->e_shoff > f->size ||
        sfb_read_all_at(f->fd, &first, sizeof first, h->e_shoff) != sizeof first)
        return false;
    *count = first.sh_info;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct remote_core_segment *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Of overlapping ones, which no kernel writes, the first is kept. */
static void sort_segments(struct remote_core_file *f)
{
    size_t kept = 0;

    if (f->segment_count > 0)
        qsort(f->segments, f->segment_count, sizeof *f->segments, by_start);
    for (size_t i = 0; i < f->segment_count; i++)
        if (kept == 0 || f->segments[kept - 1].end <= f->segments[i].start)
            f->segments[kept++] = f->segments[i];
    f->segment_count = kept;
}

static uint64_t present(const struct remote_core_file *f, const Elf64_Phdr *p)
{
    if (p->p_offset >= f->size)
        return 0;
    return p->p_filesz < f->size - p->p_offset ? p->p_filesz : f->size - p->p_offset;
}

static bool add_notes(struct remote_core_file *f, const Elf64_Phdr *p)
{
    const uint64_t size = present(f, p);
    const size_t begin = (f->notes_size + 3) & ~(size_t)3;
    uint8_t *more;

    if (size == 0 || size > NOTES_MAX - begin)
        return size == 0;
    more = realloc(f->notes, begin + size);
    if (!more)
        return false;
    f->notes = more;
    memset(more + f->notes_size, 0, begin - f->notes_size);
    f->notes_size = begin + sfb_read_all_at(f->fd, more + begin, size, p->p_offset);
    return true;
}

static void add_segment(struct remote_core_file *f, const Elf64_Phdr *p)
{
    const uint64_t saved = p->p_filesz < p->p_memsz ? p->p_filesz : p->p_memsz;
    const uint64_t here = present(f, p);

    if (p->p_memsz == 0 || p->p_memsz > UINT64_MAX - p->p_vaddr)
        return;
    f->segments[f->segment_count++] =
        (struct remote_core_segment){ .start = p->p_vaddr,
                                      .end = p->p_vaddr + p->p_memsz,
                                      .offset = p->p_offset,
                                      .saved = saved,
                                      .present = here < saved ? here : saved,
                                      .executable = (p->p_flags & PF_X) != 0,
                                      .writable = (p->p_flags & PF_W) != 0 };
}

static bool take_headers(struct remote_core_file *f, const Elf64_Phdr *headers, size_t count,
                         struct sfb_remote_fault *fault)
{
    f->segments = malloc((count + 1) * sizeof *f->segments);
    if (!f->segments)
        return remote_core_fault(fault, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *p = &headers[i];

        if (p->p_type != PT_LOAD && p->p_type != PT_NOTE)
            continue;
        if (f->lost <= UINT64_MAX - p->p_filesz)
            f->lost += p->p_filesz - present(f, p);
        if (p->p_type == PT_LOAD)
            add_segment(f, p);
        else if (!add_notes(f, p))
            return remote_core_fault(fault, "its notes have more than 256 MiB, or no memory is "
                                            "left for them");
    }
    sort_segments(f);
    return true;
}

static bool read_segments(struct remote_core_file *f, const Elf64_Ehdr *h,
                          struct sfb_remote_fault *fault)
{
    size_t count;
    Elf64_Phdr *headers;
    bool good;

    if (!count_segments(f, h, &count))
        return remote_core_fault(fault, "it is cut off: it has 65,535 segments or more, and how "
                                        "many is behind its end");
    if (count > SEGMENTS_MAX || h->e_phoff > f->size ||
        count > (f->size - h->e_phoff) / sizeof *headers)
        return remote_core_fault(fault,
                                 "it is cut off: its %zu program headers end behind its %llu bytes",
                                 count, (unsigned long long)f->size);
    headers = malloc((count + 1) * sizeof *headers);
    if (!headers)
        return remote_core_fault(fault, "out of memory");
    good = sfb_read_all_at(f->fd, headers, count * sizeof *headers, h->e_phoff) ==
                   count * sizeof *headers
               ? take_headers(f, headers, count, fault)
               : remote_core_fault(fault, "its program headers cannot be read");
    free(headers);
    return good;
}

static bool make_pages(struct remote_core_file *f, struct sfb_remote_fault *fault)
{
    f->pages = malloc(PAGES * sizeof *f->pages);
    if (!f->pages)
        return remote_core_fault(fault, "out of memory");
    for (size_t i = 0; i < PAGES; i++)
        f->pages[i].offset = UINT64_MAX;
    return true;
}

bool remote_core_file_open(struct remote_core_file *out, int fd, struct sfb_remote_fault *fault)
{
    struct stat status;
    Elf64_Ehdr header = { .e_type = ET_NONE };
    size_t got;

    *out = (struct remote_core_file){ .fd = fd };
    out->size = fstat(fd, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
    got = sfb_read_all_at(fd, &header, sizeof header, 0);
    if (judge(out, &header, got, fault) && read_segments(out, &header, fault) &&
        make_pages(out, fault))
        return true;
    remote_core_file_close(out);
    return false;
}

void remote_core_file_close(struct remote_core_file *f)
{
    free(f->segments);
    free(f->notes);
    free(f->pages);
    close(f->fd);
    *f = (struct remote_core_file){ .fd = -1 };
}
