/*
 * The tables of a 64-bit ELF file that can be loaded, read with libelf and checked as far as code
 * that moves parts of the file relies on them.
 */
#ifndef ELF_FILE_H
#define ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/abi.h>

#include "elf_section.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554 /* elf.h has it since glibc 2.36 */
#endif

struct elf_file {
    uint8_t *image; /* borrowed */
    size_t size;
    enum sfb_abi abi;
    Elf64_Ehdr header;
    Elf64_Phdr *phdrs; /* in host byte order, and so are the section headers */
    size_t phdr_count;
    Elf64_Shdr *shdrs; /* none: NULL */
    size_t shdr_count;
    size_t names; /* index of the section with the names; 0: they have none */
};

/*
 * Reads a program or a shared library.
 *
 * What holds afterwards: all tables lie in the file; segments that are loaded do, too, ascend in
 * memory and do not overlap.
 *
 * @param image  the whole file; libelf wants it writable, and does not write
 * @return whether it is one; if not, the fault is written and nothing is to be freed
 */
bool elf_file_open(struct elf_file *out, struct elf_fault *fault, uint8_t *image, size_t size);

void elf_file_close(struct elf_file *file);

/* @return the first program header of a type, NULL if there is none */
const Elf64_Phdr *elf_file_phdr(const struct elf_file *file, uint32_t type);

/* @return the segment that loads a byte of the file to an address, NULL if none does */
const Elf64_Phdr *elf_file_segment(const struct elf_file *file, uint64_t address);

/* @return the index of a section, 0 if there is none of that name */
size_t elf_file_section(const struct elf_file *file, const char *name);

/* Where a field of a program header or section header is in the file. */
uint64_t elf_file_phdr_at(const struct elf_file *file, size_t index, size_t field);
uint64_t elf_file_shdr_at(const struct elf_file *file, size_t index, size_t field);

#endif
