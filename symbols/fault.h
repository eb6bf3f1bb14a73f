/* A fault of an ELF file, and its offset. */
#ifndef SYMBOLS_FAULT_H
#define SYMBOLS_FAULT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object_fault {
    const char *field; /* "sh_offset"; NULL: not in one field */
    const char *cause; /* static */
    uint64_t offset;   /* of the field in the file */
};

/* Records a fault. @return false */
static inline bool object_fault_set(struct object_fault *fault, uint64_t offset, const char *field,
                                    const char *cause)
{
    *fault = (struct object_fault){ .field = field, .cause = cause, .offset = offset };
    return false;
}

/* The offset of a header's member, for either class of files. */
#define OBJECT_EHDR_AT(class, member)                                                              \
    ((class) == ELFCLASS32 ? offsetof(Elf32_Ehdr, member) : offsetof(Elf64_Ehdr, member))
#define OBJECT_SHDR_AT(class, member)                                                              \
    ((class) == ELFCLASS32 ? offsetof(Elf32_Shdr, member) : offsetof(Elf64_Shdr, member))
#define OBJECT_PHDR_AT(class, member)                                                              \
    ((class) == ELFCLASS32 ? offsetof(Elf32_Phdr, member) : offsetof(Elf64_Phdr, member))

#endif
