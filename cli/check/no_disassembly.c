/* In place of disassembly.c, where capstone is not installed. */
#include "cli/check/disassembly.h"

bool disassembly_print(const uint8_t *code, size_t size, uint64_t address, uint8_t abi)
{
    (void)code;
    (void)size;
    (void)address;
    (void)abi;
    return false;
}
