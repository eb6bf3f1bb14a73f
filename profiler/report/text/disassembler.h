/* Machine code as text. Without capstone there is no disassembler. */
#ifndef PROFILER_REPORT_TEXT_DISASSEMBLER_H
#define PROFILER_REPORT_TEXT_DISASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

struct report_disassembler; /* opaque */

/* @param machine  EM_X86_64 or EM_AARCH64. @return NULL: it cannot be disassembled here */
struct report_disassembler *report_disassembler_open(uint16_t machine);

/**
 * @param address  of the bytes: of it are the targets of jumps
 * @param text     written: the instruction; "(bad)" of a byte that begins none
 * @return bytes of the instruction, at least 1; 0: no bytes are left
 */
size_t report_disassembler_next(struct report_disassembler *disassembler, const uint8_t *bytes,
                                size_t size, uint64_t address, char *text, size_t text_size);

void report_disassembler_close(struct report_disassembler *disassembler);

#endif
