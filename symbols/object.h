/*
 * An ELF file: a program, a library, a relocatable object, or a member of an archive; 32 or 64
 * bits, any machine, either byte order.
 *
 *     object.h      its header, sections, segments; addresses and offsets
 *     code_ranges.h its code
 *     labels.h      its symbols of code
 *     relocate.h    layout and relocations of a relocatable object
 *     sframe.h      its .sframe
 *     eh_frame.h    its .eh_frame
 *     tables.h      both as a module for a walk
 *     archive.h     such files in an archive
 *
 * Nothing here prints, and no byte of the file is trusted: wrong ones are a fault.
 */
#ifndef SYMBOLS_OBJECT_H
#define SYMBOLS_OBJECT_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/section.h>

#include "symbols/fault.h"

/* SFrame's number for s390x, beside enum sfb_abi. */
enum { OBJECT_ABI_S390X = 4 };

struct object_section {
    GElf_Shdr header;
    const char *name;   /* in the image; "" */
    uint64_t address;   /* as linked, or by object_lay_out() */
    uint64_t header_at; /* file offset of its header */
};

struct object_range;
struct object_label;

struct object {
    uint8_t *image; /* borrowed; nothing here writes to it */
    size_t size;
    Elf *elf;
    GElf_Ehdr header;
    uint8_t abi; /* enum sfb_abi, OBJECT_ABI_S390X; 0: unknown to SFrame */
    bool big, relocatable;
    struct object_section *sections; /* NULL: no section headers */
    size_t section_count;
    size_t names; /* the section with their names; 0: without names */
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
 * Afterwards all tables of headers lie in the file. Their contents may not.
 *
 * @param out    written on success, for object_close()
 * @param fault  written on failure: not an ELF file, its fault, or no memory
 * @param image  the whole file, or the member of an archive; borrowed until the object is closed.
 *               libelf asks for writable memory and does not write
 *
 * @return false: unreadable; nothing needs closing
 */
bool object_open(struct object *out, struct object_fault *fault, uint8_t *image, size_t size);

void object_close(struct object *object);

/**
 * Reads the header alone: it identifies files with damaged tables, too.
 *
 * @return false, with a fault: no ELF file
 */
bool object_header_read(GElf_Ehdr *out, struct object_fault *fault, uint8_t *image, size_t size);

/* @return enum sfb_abi, OBJECT_ABI_S390X; 0: unknown to SFrame */
uint8_t object_header_abi(const GElf_Ehdr *header);

/* The file offset of a section's or segment's header; any index is allowed. */
uint64_t object_section_header_at(const struct object *object, size_t index);
uint64_t object_segment_header_at(const struct object *object, size_t index);

/* @return the index of the first section of a name behind another; 0: not found */
size_t object_section_after(const struct object *object, size_t index, const char *name);

/* @return the section's bytes; NULL: not in the file, or compressed */
const uint8_t *object_bytes(const struct object *object, const struct object_section *section);

/* @return the first segment of a type; NULL: not found */
const GElf_Phdr *object_segment(const struct object *object, uint32_t type);

/* @return the segment with file bytes at an address; NULL: not found */
const GElf_Phdr *object_segment_at(const struct object *object, uint64_t address);

/* Whether a file byte is loaded to an address as linked; out is its offset. */
bool object_offset_of(const struct object *object, uint64_t address, uint64_t *out);

/* The reverse. */
bool object_address_of(const struct object *object, uint64_t offset, uint64_t *out);

/* Whether [offset, offset + size) lies in the file. */
static inline bool object_has(const struct object *object, uint64_t offset, uint64_t size)
{
    return offset <= object->size && size <= object->size - offset;
}

/* A string of a string table. @return "": not wholly in the table */
const char *object_string(const struct object *object, const GElf_Shdr *table, uint64_t offset);

#endif
