/*
 * Prints distinct random addresses in the functions of an ELF file, one a line:
 *
 *     symbols-addresses FILE COUNT [SEED]
 *
 * Each byte of a function is as likely as any other. Fewer come where the functions are too small. Exit
 * status: 0 done; 2 usage, or the file cannot be read.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "random.h"

struct functions {
    struct function {
        uint64_t start;
        uint64_t before; /* bytes of the functions before it */
    } * at;
    size_t count;
    uint64_t bytes;
};

static void add_table(struct functions *f, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data && header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;

    f->at = reallocarray(f->at, f->count + count + 1, sizeof *f->at);
    if (!f->at)
        abort();
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;

        if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
            symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0)
            continue;
        f->at[f->count++] = (struct function){ symbol.st_value, f->bytes };
        f->bytes += symbol.st_size;
    }
}

static void read_functions(struct functions *f, Elf *elf, uint64_t type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            add_table(f, section, &header);
}

/* @param byte  of all functions, one behind the other */
static uint64_t address_of(const struct functions *f, uint64_t byte)
{
    size_t lo = 0, hi = f->count; /* the function is in [lo, hi) */

    while (hi - lo > 1) {
        const size_t middle = lo + (hi - lo) / 2;

        if (f->at[middle].before <= byte)
            lo = middle;
        else
            hi = middle;
    }
    return f->at[lo].start + (byte - f->at[lo].before);
}

static void print_addresses(const struct functions *f, size_t count, uint64_t seed)
{
    size_t room = 64, printed = 0;
    uint64_t *seen; /* by hash; 0: free */

    while (room < 2 * count)
        room *= 2;
    seen = calloc(room, sizeof *seen);
    if (!seen)
        abort();
    for (size_t tries = 0; printed < count && tries < 20 * count && f->bytes > 0; tries++) {
        const uint64_t address = address_of(f, random_below(&seed, (unsigned)f->bytes));
        size_t slot = (size_t)(address * 0x9e3779b97f4a7c15u) & (room - 1);

        while (seen[slot] != 0 && seen[slot] != address)
            slot = (slot + 1) & (room - 1);
        if (seen[slot] == address || address == 0)
            continue;
        seen[slot] = address;
        printf("0x%" PRIx64 "\n", address);
        printed++;
    }
    free(seen);
}

int main(int argc, char **argv)
{
    struct functions f = { NULL, 0, 0 };
    const int fd = argc == 3 || argc == 4 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    Elf *elf =
        elf_version(EV_CURRENT) != EV_NONE && fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;

    if (!elf) {
        fprintf(stderr, "usage: symbols-addresses FILE COUNT [SEED]: FILE is an ELF file\n");
        return 2;
    }
    read_functions(&f, elf, SHT_SYMTAB);
    if (f.count == 0)
        read_functions(&f, elf, SHT_DYNSYM);
    print_addresses(&f, strtoul(argv[2], NULL, 10), argc == 4 ? strtoul(argv[3], NULL, 10) : 1);
    free(f.at);
    elf_end(elf);
    close(fd);
    return 0;
}
