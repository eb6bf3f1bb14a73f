#include "base/memory.h"

#include <string.h>

bool sfb_memory_copy(struct sfb_memory *memory, uint64_t address, void *out, uint64_t size)
{
    uint8_t *to = out;

    while (size > 0) {
        uint64_t skip = address & 7;
        uint64_t n = 8 - skip < size ? 8 - skip : size;
        uint64_t word;

        if (!sfb_memory_read(memory, address - skip, &word))
            return false;
        memcpy(to, (const uint8_t *)&word + skip, n);
        to += n;
        address += n;
        size -= n;
    }
    return true;
}
