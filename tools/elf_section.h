/* Where the SFrame section of an ELF file is, found without believing the file. */
#ifndef ELF_SECTION_H
#define ELF_SECTION_H

#include <stddef.h>
#include <stdint.h>

#include "elf_fault.h"

struct elf_section {
    const uint8_t *data; /* inside the image */
    size_t size;
    uint64_t vma;       /* its address as linked; 0 in an object file */
    const char *format; /* BFD's name of the file format, as objdump prints it */
};

enum elf_result {
    ELF_FOUND,
    ELF_ABSENT, /* a sound file without .sframe */
    ELF_FAULTY  /* see the fault */
};

/* Writes the fault down. @return ELF_FAULTY */
static inline enum elf_result elf_faulty(struct elf_fault *fault, uint64_t offset,
                                         const char *field, const char *cause)
{
    elf_fault_set(fault, offset, field, cause);
    return ELF_FAULTY;
}

/*
 * Finds .sframe by its section's name or, in a file without section headers, by PT_GNU_SFRAME.
 *
 * @param out    written on ELF_FOUND
 * @param fault  written on ELF_FAULTY
 * @param image  the whole file; libelf wants it writable, and does not write
 */
enum elf_result elf_section_find(struct elf_section *out, struct elf_fault *fault, uint8_t *image,
                                 size_t size);

#endif
