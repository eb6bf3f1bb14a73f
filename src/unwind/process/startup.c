/*
 * The loader loads the program's needed libraries (DT_NEEDED), the libraries that these need, and so
 * on, before the program begins. dlclose() never unloads them: they have no reference count there.
 * The program itself and the vDSO stay, too. Cached facts about such a module need no check that it is
 * still mapped.
 *
 * Names are matched as the loader does it: with DT_SONAME, or the file's name. If two modules have one
 * name, the first is the loader's answer; the other was loaded later, by its path.
 *
 * LD_PRELOAD is not read: a program may have changed it since.
 *
 * Names are found by hash, and a string table is probed once, at its last byte. Probing every page of
 * every module for every name took 642,860 system calls in a program of 109 libraries.
 */
#include "unwind/process/startup.h"

#include <string.h>
#include <sys/auxv.h>

#include "unwind/process/pages.h"

enum { NO_NAME = SFB_STARTUP_NAMES };

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "";
}

/* Tells whether one segment of the module has all these bytes in the file. */
static bool is_in_segment(const struct dl_phdr_info *info, uint64_t address, uint64_t size)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t offset = address - (info->dlpi_addr + p->p_vaddr);

        if (p->p_type == PT_LOAD && offset <= p->p_filesz && size <= p->p_filesz - offset)
            return true;
    }
    return false;
}

/*
 * The file may have become shorter since the loader read it. Then the end of a segment is lost first:
 * if the last byte is readable, all bytes are.
 */
static void find_strings(struct sfb_startup_module *m, const struct dl_phdr_info *info)
{
    uint64_t strings = 0, size = 0, name = 0;

    for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
        /* glibc relocates these addresses in place, unless the section is read-only. */
        if (d->d_tag == DT_STRTAB)
            strings = d->d_un.d_ptr + (d->d_un.d_ptr < m->bias ? m->bias : 0);
        else if (d->d_tag == DT_STRSZ)
            size = d->d_un.d_val;
        else if (d->d_tag == DT_SONAME)
            name = d->d_un.d_val;
    }
    if (strings == 0 || size == 0 || !is_in_segment(info, strings, size) ||
        !sfb_page_probe(strings + size - 1) || ((const char *)(uintptr_t)strings)[size - 1] != '\0')
        return;
    m->strings = (const char *)(uintptr_t)strings;
    m->strings_size = size;
    if (name > 0 && name < size)
        m->soname = m->strings + name;
}

static int collect(struct dl_phdr_info *info, size_t size, void *user)
{
    struct sfb_startup *s = user;
    struct sfb_startup_module *m;

    (void)size;
    if (s->count == SFB_STARTUP_MAX)
        return 1;
    m = &s->module[s->count++];
    *m = (struct sfb_startup_module){ .phdrs = info->dlpi_phdr,
                                      .bias = info->dlpi_addr,
                                      .name = base_name(info->dlpi_name) };
    if (!sfb_pages_probe((uintptr_t)info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_DYNAMIC && sfb_pages_probe(info->dlpi_addr + p->p_vaddr, p->p_memsz))
            m->dynamic = (const void *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
    }
    if (m->dynamic)
        find_strings(m, info);
    return 0;
}

/* --- Names -------------------------------------------------------------------------------------
 *
 * The names of module i are entries 2 * i and 2 * i + 1. The entries of a bucket are linked in the
 * order of the modules, which is the order of loading.
 */

static unsigned bucket_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return (hash ^ hash >> 16) % SFB_STARTUP_BUCKETS;
}

static const char *name_of(const struct sfb_startup *s, unsigned entry)
{
    const struct sfb_startup_module *m = &s->module[entry / 2];

    return entry % 2 == 0 ? m->name : m->soname;
}

static void index_names(struct sfb_startup *s)
{
    for (unsigned i = 0; i < SFB_STARTUP_BUCKETS; i++)
        s->first[i] = NO_NAME;
    for (unsigned entry = 2 * s->count; entry-- > 0;) {
        const char *name = name_of(s, entry);

        if (name) {
            uint16_t *first = &s->first[bucket_of(name)];

            s->next[entry] = *first;
            *first = (uint16_t)entry;
        }
    }
}

/* Marks the first module of a name as needed, and appends it to the queue of modules to read. */
static void mark(struct sfb_startup *s, const char *name)
{
    unsigned entry = s->first[bucket_of(name)];

    while (entry != NO_NAME && strcmp(name_of(s, entry), name) != 0)
        entry = s->next[entry];
    if (entry == NO_NAME || s->module[entry / 2].needed)
        return;
    s->module[entry / 2].needed = true;
    s->reached[s->reached_count++] = (uint16_t)(entry / 2);
}

static void mark_needed(struct sfb_startup *s, const struct sfb_startup_module *m)
{
    if (!m->strings)
        return;
    for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && d->d_un.d_val < m->strings_size)
            mark(s, base_name(m->strings + d->d_un.d_val));
}

void sfb_startup_find(struct sfb_startup *out)
{
    uint64_t program = getauxval(AT_PHDR), vdso = getauxval(AT_SYSINFO_EHDR);

    out->count = out->reached_count = 0;
    dl_iterate_phdr(collect, out);
    index_names(out);
    for (unsigned i = 0; i < out->count; i++) {
        struct sfb_startup_module *m = &out->module[i];

        m->needed = (uintptr_t)m->phdrs == program || (vdso && m->bias == vdso);
        if (m->needed)
            out->reached[out->reached_count++] = (uint16_t)i;
    }
    for (unsigned i = 0; i < out->reached_count; i++)
        mark_needed(out, &out->module[out->reached[i]]);
}

bool sfb_startup_has(const struct sfb_startup *startup, const ElfW(Phdr) * phdrs)
{
    for (unsigned i = 0; i < startup->count; i++)
        if (startup->module[i].phdrs == phdrs)
            return startup->module[i].needed;
    return false;
}
