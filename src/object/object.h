/*
 * One view of an ELF file: a program, a library, a relocatable object, a member of an archive; of 32
 * or 64 bits, any machine and either byte order.
 *
 *     object.h      its header, sections, segments; addresses and offsets
 *     code_ranges.h where its code is
 *     labels.h      what its symbol table calls places in code
 *     relocate.h    what a linker would do to a section of a relocatable object
 *     sframe.h      its .sframe
 *     eh_frame.h    its .eh_frame
 *     tables.h      both as a module for a walk
 *     archive.h     where in an archive such files are
 *
 * Nothing here prints, and no byte of the file is trusted: what does not hold is a fault.
 */
#ifndef OBJECT_OBJECT_H
#define OBJECT_OBJECT_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/section.h>

#include "object/fault.h"

/* Beside enum sfb_abi: what SFrame calls s390x. */
enum { OBJECT_ABI_S390X = 4 };

struct object_section {
    GElf_Shdr header;
    const char *name;   /* in the image; "" */
    uint64_t address;   /* as linked, or where object_lay_out() put it */
    uint64_t header_at; /* where its header is in the file */
};

struct object_range;
struct object_label;

struct object {
    uint8_t *image; /* borrowed; nothing here writes to it */
    size_t size;
    Elf *elf;
    GElf_Ehdr header;
    uint8_t abi; /* enum sfb_abi, OBJECT_ABI_S390X; 0: a machine that SFrame does not know */
    bool big, relocatable;
    struct object_section *sections; /* NULL: no section headers */
    size_t section_count;
    size_t names; /* the section with their names; 0: they have none */
    GElf_Phdr *phdrs;
    size_t phdr_count;
    struct object_range *code; /* object_find_code() */
    size_t code_count;
    struct object_label *labels; /* object_read_labels() */
    size_t label_count;
};

/* @return ELFCLASS32 or ELFCLASS64 */
static inline int object_class(const struct object *object)
{
    return object->header.e_ident[EI_CLASS];
}

/**
 * Reads the headers of a file.
 *
 * Afterwards all tables of headers lie in the file. What they speak of may not.
 *
 * @param out    written on success, for object_close()
 * @param fault  written on failure: not an ELF file, or what is wrong with it; or no memory
 * @param image  the whole file, or the member of an archive; borrowed until the object is closed.
 *               libelf wants it writable, and does not write
 *
 * @return false: it cannot be read; nothing is to be closed
 */
bool object_open(struct object *out, struct object_fault *fault, uint8_t *image, size_t size);

void object_close(struct object *object);

/**
 * Reads the header alone: what kind of file it is can be said where its tables are damaged.
 *
 * @return false, with a fault: no ELF file
 */
bool object_header_read(GElf_Ehdr *out, struct object_fault *fault, uint8_t *image, size_t size);

/* @return enum sfb_abi, OBJECT_ABI_S390X; 0: a machine that SFrame does not know */
uint8_t object_header_abi(const GElf_Ehdr *header);

/* Where a header of a section or segment is in the file; the index need not be one. */
uint64_t object_section_header_at(const struct object *object, size_t index);
uint64_t object_segment_header_at(const struct object *object, size_t index);

/* @return the index of the first section of a name behind another; 0: there is none */
size_t object_section_after(const struct object *object, size_t index, const char *name);

/* @return the section's bytes; NULL: it has none in the file, or they are compressed */
const uint8_t *object_bytes(const struct object *object, const struct object_section *section);

/* @return the first segment of a type, NULL if there is none */
const GElf_Phdr *object_segment(const struct object *object, uint32_t type);

/* @return the segment whose bytes in the file are loaded to an address; NULL: none, or they are not
 * in the file */
const GElf_Phdr *object_segment_at(const struct object *object, uint64_t address);

/* Whether a byte of the file is loaded to an address as linked; out says where it is in the file. */
bool object_offset_of(const struct object *object, uint64_t address, uint64_t *out);

/* The other way. */
bool object_address_of(const struct object *object, uint64_t offset, uint64_t *out);

/* Whether [offset, offset + size) lies in the file. */
static inline bool object_has(const struct object *object, uint64_t offset, uint64_t size)
{
    return offset <= object->size && size <= object->size - offset;
}

/* A string of a table of strings. @return "": not all of it lies there */
const char *object_string(const struct object *object, const GElf_Shdr *table, uint64_t offset);

#endif
