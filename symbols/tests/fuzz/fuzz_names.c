/*
 * An ELF file from anywhere, asked for the names of addresses in its code: each address has one function
 * that contains the others, and it comes last.
 */
#include "fuzz/fuzz.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <string.h>

#include "symbols/demangle.h"
#include "symbols/names.h"

enum { ADDRESSES_MAX = 64 };

struct chain {
    size_t count, letters;
    bool complete;
};

static void visit(void *user, const struct object_name *name)
{
    struct chain *chain = user;

    FUZZ_CHECK(!chain->complete);
    FUZZ_CHECK(name->line >= 0 && name->column >= 0);
    chain->count++;
    chain->complete = !name->inlined;
    if (name->name && chain->count == 1)
        free(object_demangle(name->name, OBJECT_NAME_SHORT));
    chain->letters += name->file ? strlen(name->file) : 0; /* a sanitizer looks on */
}

static void ask(struct object_names *names, uint64_t address)
{
    struct chain chain = { 0, 0, false };

    FUZZ_CHECK(object_names_find(names, address, visit, &chain));
    FUZZ_CHECK(chain.complete);
}

/* Addresses all over the executable segments. */
static void ask_all(struct object_names *names, Elf *elf)
{
    size_t count = 0;
    GElf_Phdr header;

    if (elf_getphdrnum(elf, &count) != 0)
        return;
    for (int i = 0; i < (int)(count < 8 ? count : 8); i++) {
        if (!gelf_getphdr(elf, i, &header) || !(header.p_flags & PF_X))
            continue;
        for (uint64_t k = 0; k < ADDRESSES_MAX; k++)
            ask(names, header.p_vaddr + header.p_filesz / ADDRESSES_MAX * k + k % 7);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    struct object_names_source source = { .main = NULL };
    struct object_names *names;

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    elf_version(EV_CURRENT);
    source.main = elf_memory(copy, size);
    if (source.main && elf_kind(source.main) == ELF_K_ELF) {
        source.dwarf = dwarf_begin_elf(source.main, DWARF_C_READ, NULL);
        names = object_names_open(&source);
        if (names)
            ask_all(names, source.main);
        object_names_close(names);
        if (source.dwarf)
            dwarf_end(source.dwarf);
    }
    elf_end(source.main);
    free(copy);
    return 0;
}
