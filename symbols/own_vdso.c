#include "symbols/own_vdso.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

void *object_own_vdso(size_t *size)
{
    const ElfW(Ehdr) *header =
        (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR); /* NOLINT(performance-no-int-to-ptr) */

    if (!header)
        return NULL;
    /* The section headers come last. */
    *size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    return (void *)(uintptr_t)header; /* NOLINT(performance-no-int-to-ptr) */
}
