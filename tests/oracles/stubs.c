/*
 * By the names of sections in the files: the library under test goes by the bytes of the code, so
 * that neither can fool the other.
 */
#include "oracles/stubs.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { RANGES_MAX = 64, SECTIONS_MAX = 128 };

static struct {
    uint64_t start, size;
} ranges[RANGES_MAX];
static unsigned range_count;

static bool read_at(FILE *f, uint64_t offset, void *out, size_t size)
{
    return fseek(f, (long)offset, SEEK_SET) == 0 && fread(out, 1, size, f) == size;
}

static void find_plt(FILE *f, uint64_t bias)
{
    ElfW(Ehdr) ehdr;
    ElfW(Shdr) sections[SECTIONS_MAX];

    if (!read_at(f, 0, &ehdr, sizeof ehdr) || ehdr.e_shnum > SECTIONS_MAX ||
        ehdr.e_shstrndx >= ehdr.e_shnum ||
        !read_at(f, ehdr.e_shoff, sections, ehdr.e_shnum * sizeof *sections))
        return;
    for (unsigned i = 0; i < ehdr.e_shnum && range_count < RANGES_MAX; i++) {
        char name[sizeof ".plt"];

        if (!read_at(f, sections[ehdr.e_shstrndx].sh_offset + sections[i].sh_name, name,
                     sizeof name) ||
            memcmp(name, ".plt", sizeof name) != 0)
            continue;
        ranges[range_count].start = bias + sections[i].sh_addr;
        ranges[range_count].size = sections[i].sh_size;
        range_count++;
    }
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *user)
{
    FILE *f = fopen(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", "re");

    (void)size;
    (void)user;
    if (f) { /* the vDSO has none */
        find_plt(f, info->dlpi_addr);
        fclose(f);
    }
    return 0;
}

void stubs_find(void)
{
    dl_iterate_phdr(look_at_module, NULL);
}

bool stubs_contain(uint64_t address)
{
    for (unsigned i = 0; i < range_count; i++)
        if (address - ranges[i].start < ranges[i].size)
            return true;
    return false;
}
