#include "profiler/agent/heap/passed_by.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "profiler/agent/heap/module_has.h"
#include "profiler/agent/heap/next.h"

/* What the loader has already used to link a module. */
struct imports {
    const ElfW(Sym) * symbols;
    const char *names;
    struct {
        const ElfW(Rela) * at;
        size_t size; /* in bytes */
    } data, calls;
    size_t relative; /* the first ones of data, which name no symbol */
};

/* The C library relocates these addresses in place; other loaders do not. */
static uintptr_t address_of(const struct dl_phdr_info *module, const ElfW(Dyn) * entry)
{
    const uintptr_t at = (uintptr_t)entry->d_un.d_ptr;

    return at < module->dlpi_addr ? at + module->dlpi_addr : at;
}

static void put(const struct dl_phdr_info *module, const ElfW(Dyn) * entry, void *out)
{
    const uintptr_t at = address_of(module, entry);

    memcpy(out, &at, sizeof at);
}

static bool find_imports(const struct dl_phdr_info *module, struct imports *out)
{
    const ElfW(Dyn) *entry = NULL;

    *out = (struct imports){ 0 };
    for (size_t i = 0; i < module->dlpi_phnum && !entry; i++)
        if (module->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            const uintptr_t at = module->dlpi_addr + module->dlpi_phdr[i].p_vaddr;

            memcpy(&entry, &at, sizeof at);
        }
    for (; entry && entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB: put(module, entry, &out->symbols); break;
        case DT_STRTAB: put(module, entry, &out->names); break;
        case DT_RELA: put(module, entry, &out->data.at); break;
        case DT_RELASZ: out->data.size = entry->d_un.d_val; break;
        case DT_RELACOUNT: out->relative = entry->d_un.d_val; break;
        case DT_JMPREL: put(module, entry, &out->calls.at); break;
        case DT_PLTRELSZ: out->calls.size = entry->d_un.d_val; break;
        default: break;
        }
    return out->symbols && out->names;
}

static bool is_second_name(const char *name)
{
    static const char *const names[] = { "malloc",   "free",   "calloc", "realloc",
                                         "memalign", "valloc", "pvalloc" };
    static const char prefix[] = "__libc_";

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name + sizeof prefix - 1, names[i]) == 0)
            return true;
    return false;
}

static bool has_second_name(const struct imports *in, const ElfW(Rela) * from, size_t size)
{
    const ElfW(Rela) *const end = from ? from + size / sizeof *from : NULL;

    for (; from < end; from++) {
        const ElfW(Sym) *symbol = &in->symbols[ELF64_R_SYM(from->r_info)];

        if (symbol->st_shndx == SHN_UNDEF && is_second_name(in->names + symbol->st_name))
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *module, size_t size, void *user)
{
    const void *next;
    struct imports in;
    size_t relative;
    uint32_t *count = user;

    (void)size;
    memcpy(&next, &sfb_heap_next.malloc, sizeof next);
    if (sfb_heap_module_has(module, next) || !find_imports(module, &in))
        return 0;
    relative = in.relative * sizeof *in.data.at;
    if (relative > in.data.size)
        relative = in.data.size;
    *count +=
        has_second_name(&in, in.calls.at, in.calls.size) ||
        (in.data.at && has_second_name(&in, in.data.at + in.relative, in.data.size - relative));
    return 0;
}

uint32_t sfb_heap_passed_by(void)
{
    uint32_t count = 0;

    dl_iterate_phdr(look_at, &count);
    return count;
}
