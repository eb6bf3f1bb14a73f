/*
 * What a program asks the loader for by name (DT_NEEDED), what these libraries ask for, and so on,
 * is loaded before the program begins, and dlclose() does not touch it: the loader counts nothing
 * there. So do the program itself and the vDSO stay. What is remembered of such a module needs no
 * look at whether the module is still there.
 *
 * Names are matched as the loader does it: with DT_SONAME, or the file's name. If two modules of
 * one name are there, the first is the loader's answer; the other came later, by its path.
 *
 * LD_PRELOAD is not read: a program may have changed it since.
 */
#include "unwind/process/startup.h"

#include <string.h>
#include <sys/auxv.h>

#include "unwind/process/pages.h"

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "";
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
    /* Files may be shorter by now than when the loader read them. */
    if (!sfb_pages_probe((uintptr_t)info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_DYNAMIC && sfb_pages_probe(info->dlpi_addr + p->p_vaddr, p->p_memsz))
            m->dynamic = (const void *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
    }
    return 0;
}

/* glibc writes addresses over what the file says, but not where it cannot write. */
static const char *strings_of(const struct sfb_startup_module *m)
{
    uint64_t strings = 0, size = 0;

    for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            strings = d->d_un.d_ptr + (d->d_un.d_ptr < m->bias ? m->bias : 0);
        else if (d->d_tag == DT_STRSZ)
            size = d->d_un.d_val;
    }
    return strings && size && sfb_pages_probe(strings, size) ? (const char *)(uintptr_t)strings
                                                             : NULL;
}

static bool is_called(const struct sfb_startup_module *m, const char *name)
{
    const char *strings;

    if (strcmp(m->name, name) == 0)
        return true;
    strings = m->dynamic ? strings_of(m) : NULL;
    if (strings)
        for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_SONAME && strcmp(strings + d->d_un.d_val, name) == 0)
                return true;
    return false;
}

/* @return whether there was one to be marked */
static bool mark(struct sfb_startup *s, const char *name)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (!is_called(&s->module[i], name))
            continue;
        if (s->module[i].needed)
            return false;
        s->module[i].needed = true;
        return true;
    }
    return false;
}

static bool mark_needed(struct sfb_startup *s, const struct sfb_startup_module *m)
{
    const char *strings = m->dynamic ? strings_of(m) : NULL;
    bool more = false;

    if (strings)
        for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_NEEDED)
                more |= mark(s, base_name(strings + d->d_un.d_val));
    return more;
}

void sfb_startup_find(struct sfb_startup *out)
{
    uint64_t program = getauxval(AT_PHDR), vdso = getauxval(AT_SYSINFO_EHDR);
    bool more = false;

    out->count = 0;
    dl_iterate_phdr(collect, out);
    for (unsigned i = 0; i < out->count; i++) {
        uint64_t phdrs = (uintptr_t)out->module[i].phdrs;

        out->module[i].needed = phdrs == program || (vdso && out->module[i].bias == vdso);
        more |= out->module[i].needed;
    }
    while (more) {
        more = false;
        for (unsigned i = 0; i < out->count; i++)
            if (out->module[i].needed)
                more |= mark_needed(out, &out->module[i]);
    }
}

bool sfb_startup_has(const struct sfb_startup *startup, const ElfW(Phdr) * phdrs)
{
    for (unsigned i = 0; i < startup->count; i++)
        if (startup->module[i].phdrs == phdrs)
            return startup->module[i].needed;
    return false;
}
