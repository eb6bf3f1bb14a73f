/*
 * MiniDebugInfo: an ELF file with a .symtab, packed with xz into the section .gnu_debugdata of a
 * program that is stripped otherwise.
 */
#ifndef OBJECT_MINIDEBUG_H
#define OBJECT_MINIDEBUG_H

#include <libelf.h>
#include <stdbool.h>

/**
 * Unpacks the file. One of more than 64 MiB is refused, as is what is no ELF file.
 *
 * @param out    for elf_end(); its addresses are those of elf
 * @param bytes  for free(), after that
 *
 * @return whether there is one; out and bytes are written then only
 */
bool object_minidebug_open(Elf *elf, Elf **out, void **bytes);

#endif
