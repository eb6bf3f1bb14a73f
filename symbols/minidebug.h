/*
 * MiniDebugInfo: an ELF file with a .symtab, packed with xz into the section .gnu_debugdata of an
 * otherwise stripped program.
 */
#ifndef SYMBOLS_MINIDEBUG_H
#define SYMBOLS_MINIDEBUG_H

#include <libelf.h>
#include <stdbool.h>

/**
 * Unpacks the file. Above 64 MiB it is refused, and so is anything but an ELF file.
 *
 * @param out    for elf_end(); same addresses as elf
 * @param bytes  for free(), after that
 *
 * @return whether it exists; else out and bytes are not written
 */
bool object_minidebug_open(Elf *elf, Elf **out, void **bytes);

#endif
