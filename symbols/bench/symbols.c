/*
 * What names cost without printing them:
 *
 *     bench-symbols FILE < ADDRESSES
 *
 * Opens an ELF file that has its debug information in itself, asks symbols/names.h for each address on
 * stdin and prints one line: addresses, functions, inlined ones among them, seconds of CPU time from opening
 * the file to the last answer, and the most memory that was in use, in MiB. symbols/bench/symbols runs it.
 */
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "symbols/names.h"

struct counts {
    size_t functions, inlined;
};

static void count(void *user, const struct object_name *name)
{
    struct counts *counts = user;

    counts->functions++;
    counts->inlined += name->inlined;
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t read_addresses(uint64_t **out)
{
    size_t count = 0, room = 0;
    unsigned long address;

    *out = NULL;
    while (scanf("%lx", &address) == 1) { /* NOLINT(cert-err34-c): a bench's own numbers */
        if (count == room) {
            room = room ? 2 * room : 1024;
            *out = reallocarray(*out, room, sizeof **out);
            if (!*out)
                abort();
        }
        (*out)[count++] = address;
    }
    return count;
}

int main(int argc, char **argv)
{
    struct object_names_source source = { .main = NULL };
    struct counts counts = { 0, 0 };
    struct object_names *names;
    struct rusage usage;
    uint64_t *addresses;
    const size_t wanted = read_addresses(&addresses);
    const double start = cpu_seconds();
    const int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

    elf_version(EV_CURRENT);
    source.main = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (!source.main) {
        fprintf(stderr, "usage: bench-symbols FILE < ADDRESSES\n");
        return 2;
    }
    source.dwarf = dwarf_begin_elf(source.main, DWARF_C_READ, NULL);
    names = object_names_open(&source);
    for (size_t i = 0; names && i < wanted; i++)
        object_names_find(names, addresses[i], count, &counts);
    getrusage(RUSAGE_SELF, &usage);
    printf("%zu addresses %zu functions %zu inlined %.3f s %.1f MiB\n", wanted, counts.functions,
           counts.inlined, cpu_seconds() - start, (double)usage.ru_maxrss / 1024);
    object_names_close(names);
    dwarf_end(source.dwarf);
    elf_end(source.main);
    close(fd);
    free(addresses);
    return 0;
}
