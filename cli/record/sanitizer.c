/* Whether a program can have the heap agent: not if a sanitizer's malloc() cannot be replaced. */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "cli/record/parts.h"

struct sanitizer {
    const char *name, *symbol,
        *library; /* symbol: its runtime defines it; library: of one that crashes behind an agent */
};

/* LeakSanitizer is part of AddressSanitizer: it comes last. The library of those two runs behind an agent. */
static const struct sanitizer sanitizers[] = {
    { "AddressSanitizer", "__asan_init", NULL },
    { "HWAddressSanitizer", "__hwasan_init", NULL },
    { "MemorySanitizer", "__msan_init", NULL },
    { "ThreadSanitizer", "__tsan_init", "libtsan.so" },
    { "LeakSanitizer", "__lsan_do_leak_check", NULL },
};

enum { SANITIZERS = sizeof sanitizers / sizeof *sanitizers };

/* @return the first sanitizer whose runtime the symbols define; SANITIZERS: they define none */
static size_t defined_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t found = SANITIZERS;
    GElf_Sym symbol;

    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

        if (!name || symbol.st_shndx == SHN_UNDEF || strncmp(name, "__", 2) != 0)
            continue;
        for (size_t s = 0; s < found; s++)
            if (strcmp(name, sanitizers[s].symbol) == 0)
                found = s;
    }
    return found;
}

/* @return the sanitizer whose library the program needs and no agent can precede; SANITIZERS: it needs none */
static size_t needed_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;

    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        const char *name =
            entry.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, entry.d_un.d_val) : NULL;

        for (size_t s = 0; name && s < SANITIZERS; s++)
            if (sanitizers[s].library &&
                strncmp(name, sanitizers[s].library, strlen(sanitizers[s].library)) == 0)
                return s;
    }
    return SANITIZERS;
}

static size_t find(Elf *elf)
{
    size_t found = SANITIZERS, here = SANITIZERS;
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
            here = defined_in(elf, section, &header);
        else if (header.sh_type == SHT_DYNAMIC)
            here = needed_in(elf, section, &header);
        found = here < found ? here : found;
    }
    return found;
}

bool record_takes_heap_agent(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    size_t found = SANITIZERS;
    Elf *elf;

    if (fd < 0)
        return true;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        found = find(elf);
    elf_end(elf);
    close(fd);
    if (found == SANITIZERS)
        return true;
    tool_complain(
        TOOL_FAILED,
        "record: %s was built with %s, whose malloc() no agent can precede: build it without", path,
        sanitizers[found].name);
    return false;
}
