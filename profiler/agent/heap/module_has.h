/* Which module an address lies in. */
#ifndef PROFILER_AGENT_HEAP_MODULE_HAS_H
#define PROFILER_AGENT_HEAP_MODULE_HAS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool sfb_heap_module_has(const struct dl_phdr_info *module, const void *address)
{
    for (size_t i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &module->dlpi_phdr[i];

        if (h->p_type == PT_LOAD &&
            (uintptr_t)address - module->dlpi_addr - h->p_vaddr < h->p_memsz)
            return true;
    }
    return false;
}

#endif
