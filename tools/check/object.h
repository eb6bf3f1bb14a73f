/*
 * What the rest of an ELF file says: sections, segments, code and symbols, for programs, libraries
 * and relocatable objects alike.
 *
 * A relocatable object has no addresses. It gets some here: sections are laid out one behind the
 * other, and the relocations of .sframe and .eh_frame are applied to copies. From there on it is
 * like a file that is linked.
 */
#ifndef CHECK_OBJECT_H
#define CHECK_OBJECT_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../elf_section.h"

#ifndef SHT_GNU_SFRAME
#define SHT_GNU_SFRAME 0x6ffffff4 /* binutils 2.45; elf.h has it since glibc 2.43 */
#endif
#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif

struct object_section {
    GElf_Shdr header;
    const char *name;   /* in the image; "" */
    uint64_t address;   /* as linked, or as laid out here */
    uint64_t header_at; /* where its header is in the file */
};

/* [start, end) */
struct object_range {
    uint64_t start, end;
};

/* A function, or another label in code. */
struct object_symbol {
    uint64_t start, end; /* equal: a label without a size */
    const char *name;
};

/* Linkage tables: a file has one of each kind. */
enum { OBJECT_PLT_MAX = 4 };

/* A relocation of .sframe. */
struct object_relocation {
    uint64_t place; /* from the start of the section */
    uint64_t at;    /* of the relocation itself in the file */
    uint32_t type;
    bool to_code; /* its symbol is defined, in an executable section */
    const char *symbol;
};

struct object {
    const uint8_t *image; /* borrowed */
    size_t size;
    Elf *elf;
    GElf_Ehdr header;
    uint8_t abi; /* enum sfb_abi, 4 for s390x; 0: a machine that SFrame does not know */
    bool big, relocatable;
    struct object_section *sections; /* NULL: no section headers */
    size_t section_count;
    GElf_Phdr *phdrs;
    size_t phdr_count;
    struct object_range *code; /* ascending, apart from each other, with bytes in the file */
    size_t code_count;
    size_t plt[OBJECT_PLT_MAX]; /* sections .plt, .plt.sec, .plt.got and .iplt */
    size_t plt_count;
    struct object_symbol *symbols; /* ascending by start, then by end */
    size_t symbol_count;
    bool has_symbols;                      /* there is a symbol table of all functions */
    struct object_relocation *relocations; /* ascending by place */
    size_t relocation_count;
};

/* @return ELFCLASS32 or ELFCLASS64 */
static inline int object_class(const struct object *object)
{
    return object->header.e_ident[EI_CLASS];
}

/*
 * Reads a file.
 *
 * @param image  the whole file, or the member of an archive; libelf wants it writable, and does not
 *               write
 * @return false: it cannot be read, the fault says why; nothing is to be closed
 */
bool object_open(struct object *out, struct elf_fault *fault, uint8_t *image, size_t size);

void object_close(struct object *object);

/* @return the index of the first section of a name behind another, 0 if there is none */
size_t object_section_after(const struct object *object, size_t index, const char *name);

/* @return the section's bytes; NULL if it has none in the file */
const uint8_t *object_bytes(const struct object *object, const struct object_section *section);

/* Whether [start, end) lies in one stretch of code. */
bool object_is_code(const struct object *object, uint64_t start, uint64_t end);

/* The last symbol that starts at or before an address; NULL: there is none. */
const struct object_symbol *object_symbol_before(const struct object *object, uint64_t address);

/*
 * Copies a section and applies its relocations, if the file is relocatable.
 *
 * @param keep  remember what was found, in object->relocations
 * @return its bytes, to be freed; NULL: no memory
 */
uint8_t *object_relocated(struct object *object, size_t section, bool keep);

#endif
