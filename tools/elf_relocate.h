/* What a linker would do to the SFrame section of an object file, and nothing else of it. */
#ifndef ELF_RELOCATE_H
#define ELF_RELOCATE_H

#include "elf_section.h"

/*
 * Applies the relocations of the .sframe of an object file: starts of functions, which are 0 until
 * then, become distances from the field to the function, whose section is taken to lie at its own
 * address, 0 as a rule.
 *
 * @param section  as elf_section_find() gave it
 * @param fault    written on ELF_FAULTY
 * @param image    the whole file; its .sframe is written to
 *
 * @return ELF_FOUND; ELF_ABSENT: there are none; ELF_FAULTY
 */
enum elf_result elf_relocate(const struct elf_section *section, struct elf_fault *fault,
                             uint8_t *image, size_t size);

#endif
