#include "remote/core_links.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

enum {
    PHDRS_MAX = 256,
    DYNAMIC_MAX = 1024,
    LINKS_MAX = 4096, /* a list that a damaged core has may be a circle */
    PAGE = 4096
};

/* <link.h>, of 64 bits. */
struct debug_64 {
    int32_t version, padding;
    uint64_t map;
};

struct link_64 {
    uint64_t bias, name, dynamic, next, previous;
};

struct source {
    struct remote_core_links *out;
    const struct remote_core_file *file;
    const struct remote_core_headers *headers;
};

static bool read_all(const struct source *s, uint64_t address, void *out, size_t size)
{
    return remote_core_file_read(s->file, address, out, size) == size;
}

/* @return NULL: no memory */
static const char *keep_path(struct remote_core_links *out, const char *text)
{
    char *copy = array_make_room(&out->paths, out->path_count, &out->path_room, sizeof *out->paths)
                     ? strdup(text)
                     : NULL;

    if (copy)
        out->paths[out->path_count++] = copy;
    return copy;
}

static bool read_text(const struct source *s, uint64_t address, char text[PATH_MAX])
{
    const size_t got = remote_core_file_read(s->file, address, text, PATH_MAX);

    return got > 0 && memchr(text, 0, got) != NULL;
}

/* @return the text at an address, kept; NULL: not in the core, or no memory */
static const char *read_path(struct source *s, uint64_t address)
{
    char text[PATH_MAX];

    return read_text(s, address, text) ? keep_path(s->out, text) : NULL;
}

/* The program's path as it was started, else the process's name. @return NULL: no memory */
static const char *program_path(struct source *s, const struct remote_core_notes *notes)
{
    const char *path = read_path(s, remote_core_auxv(notes, AT_EXECFN));
    struct sfb_remote_core facts = { .pid = 0 };

    if (path)
        return path;
    remote_core_notes_describe(&facts, notes);
    return keep_path(s->out, facts.name);
}

/* --- One module ----------------------------------------------------------------------------------- */

/* @return how many there are, copied to out */
static size_t copy_headers(Elf64_Phdr *out, const void *bytes, size_t size)
{
    Elf64_Ehdr h;

    if (!bytes || size < sizeof h)
        return 0;
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_phentsize != sizeof *out || h.e_phnum > PHDRS_MAX || h.e_phoff > size ||
        h.e_phnum > (size - h.e_phoff) / sizeof *out)
        return 0;
    memcpy(out, (const uint8_t *)bytes + h.e_phoff, h.e_phnum * sizeof *out);
    return h.e_phnum;
}

static bool add_segments(struct source *s, const Elf64_Phdr *headers, size_t count, uint64_t bias,
                         const char *path)
{
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *p = &headers[i];
        const uint64_t in_page = p->p_vaddr & (PAGE - 1);
        struct remote_core_mapping m = { .path = path };

        if (p->p_type != PT_LOAD || p->p_filesz == 0 || p->p_offset < in_page ||
            p->p_filesz > INT64_MAX)
            continue;
        m.start = p->p_vaddr - in_page + bias;
        m.end = m.start + ((in_page + p->p_filesz + PAGE - 1) & ~(uint64_t)(PAGE - 1));
        m.offset = p->p_offset - in_page;
        m.executable = (p->p_flags & PF_X) != 0;
        /* Two segments may share a page. */
        if (s->out->mappings.count > 0) {
            struct remote_core_mapping *before = &s->out->mappings.all[s->out->mappings.count - 1];

            if (before->path == path && before->end > m.start && before->start < m.start)
                before->end = m.start;
        }
        if (m.start < m.end && !remote_core_mappings_add(&s->out->mappings, &m))
            return false;
    }
    return true;
}

/* Where the first byte of a file of position-independent code is mapped is its bias. */
static bool add_library(struct source *s, const struct link_64 *link, const char *path)
{
    Elf64_Phdr headers[PHDRS_MAX];
    size_t size = 0;
    const void *bytes = s->headers->find(s->headers->user, path, link->bias, &size);
    const size_t count = copy_headers(headers, bytes, size);

    return add_segments(s, headers, count, link->bias, path);
}

/* --- The program ---------------------------------------------------------------------------------- */

/* The program headers, as the kernel said where they are; else of its file. @return how many */
static size_t program_headers(struct source *s, const struct remote_core_notes *notes,
                              Elf64_Phdr *out, const char *path)
{
    const uint64_t at = remote_core_auxv(notes, AT_PHDR), count = remote_core_auxv(notes, AT_PHNUM);
    size_t size = 0;
    const void *bytes;

    if (count > 0 && count <= PHDRS_MAX && read_all(s, at, out, count * sizeof *out))
        return (size_t)count;
    bytes = s->headers->find(s->headers->user, path, at & ~(uint64_t)(PAGE - 1), &size);
    return copy_headers(out, bytes, size);
}

static const Elf64_Phdr *header_of(const Elf64_Phdr *headers, size_t count, uint32_t type)
{
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == type)
            return &headers[i];
    return NULL;
}

/* By the program headers' own address; without PT_PHDR the program is static, and mostly not moved. */
static uint64_t program_bias(const struct remote_core_notes *notes, const Elf64_Phdr *headers,
                             size_t count)
{
    const uint64_t at = remote_core_auxv(notes, AT_PHDR);
    const Elf64_Phdr *own = header_of(headers, count, PT_PHDR);

    if (own)
        return at - own->p_vaddr;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0)
            return at - sizeof(Elf64_Ehdr) - headers[i].p_vaddr;
    return 0;
}

/* @return where r_debug is; 0: not known */
static uint64_t find_debug(const struct source *s, const Elf64_Phdr *dynamic, uint64_t bias)
{
    for (uint64_t i = 0; dynamic && i < DYNAMIC_MAX; i++) {
        Elf64_Dyn entry;

        if (!read_all(s, dynamic->p_vaddr + bias + i * sizeof entry, &entry, sizeof entry) ||
            entry.d_tag == DT_NULL)
            return 0;
        if (entry.d_tag == DT_DEBUG)
            return entry.d_un.d_ptr;
    }
    return 0;
}

/* The first link is the program, which has no name there; the vDSO has a name that is no path. */
static bool follow(struct source *s, uint64_t at)
{
    struct link_64 link;

    for (size_t i = 0; i < LINKS_MAX && at != 0 && read_all(s, at, &link, sizeof link); i++) {
        const char *path = i > 0 ? read_path(s, link.name) : NULL;

        if (path && path[0] == '/' && !add_library(s, &link, path))
            return false;
        at = link.next;
    }
    return true;
}

bool remote_core_links_read(struct remote_core_links *out, const struct remote_core_file *file,
                            const struct remote_core_notes *notes,
                            const struct remote_core_headers *headers)
{
    struct source s = { out, file, headers };
    const char *path = program_path(&s, notes);
    Elf64_Phdr program[PHDRS_MAX];
    const size_t count = path ? program_headers(&s, notes, program, path) : 0;
    const uint64_t bias = program_bias(notes, program, count);
    struct debug_64 debug;
    uint64_t at;

    if (!path || !add_segments(&s, program, count, bias, path))
        return false;
    at = find_debug(&s, header_of(program, count, PT_DYNAMIC), bias);
    return at == 0 || !read_all(&s, at, &debug, sizeof debug) || follow(&s, debug.map);
}

void remote_core_links_each(const struct remote_core_file *file,
                            const struct remote_core_notes *notes,
                            void (*visit)(void *user, uint64_t dynamic, const char *path),
                            void *user)
{
    const struct source s = { .file = file };
    const uint64_t count = remote_core_auxv(notes, AT_PHNUM);
    Elf64_Phdr program[PHDRS_MAX];
    struct debug_64 debug = { .map = 0 };
    struct link_64 link;
    char path[PATH_MAX];
    uint64_t at;

    if (count > PHDRS_MAX ||
        !read_all(&s, remote_core_auxv(notes, AT_PHDR), program, count * sizeof *program))
        return;
    at = find_debug(&s, header_of(program, count, PT_DYNAMIC), program_bias(notes, program, count));
    if (at == 0 || !read_all(&s, at, &debug, sizeof debug))
        return;
    at = debug.map;
    for (size_t i = 0; i < LINKS_MAX && at != 0 && read_all(&s, at, &link, sizeof link); i++) {
        if (read_text(&s, link.name, path) && path[0] == '/')
            visit(user, link.dynamic, path);
        at = link.next;
    }
}

void remote_core_links_free(struct remote_core_links *links)
{
    for (size_t i = 0; i < links->path_count; i++)
        free(links->paths[i]);
    free(links->paths);
    free(links->mappings.all);
    *links = (struct remote_core_links){ .path_count = 0 };
}
