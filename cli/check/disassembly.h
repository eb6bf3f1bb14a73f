/* Instructions in words, where the build has a disassembler. */
#ifndef CLI_CHECK_DISASSEMBLY_H
#define CLI_CHECK_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @return false: there is no disassembler in this build, or none for the machine; nothing is
 * printed */
bool disassembly_print(const uint8_t *code, size_t size, uint64_t address, uint8_t abi);

#endif
