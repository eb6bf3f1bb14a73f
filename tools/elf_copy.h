/*
 * A copy of a program or shared library that loads an .sframe section.
 *
 * The section gets a segment of its own, at the end of the file and, in memory, behind all others.
 * Its program header and PT_GNU_SFRAME's go where program headers have to be, behind those that are
 * there: what stands in the way moves.
 *
 *     before   | headers | .interp .note.* | .gnu.hash | .dynsym ...
 *     after    | headers + 2 | .interp .note.* |         .dynsym ...    | .gnu.hash | .sframe
 *
 * Nothing but the dynamic section and the program headers says where those are, and both are
 * corrected. Program headers at the end of the file would be less work, as long as nobody looks:
 * kernels before 5.18, the loader itself and readers of memory (ours, and those of core files) take
 * them to be as far from the ELF header as in the file, and GNU strip puts such a segment over
 * .bss.
 */
#ifndef ELF_COPY_H
#define ELF_COPY_H

#include "object/object.h"
#include "output.h"

enum { ELF_SECTION_ALIGN = 8 }; /* of .sframe and of tables of headers */

static inline uint64_t elf_align(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Loaded bytes that go elsewhere. */
struct elf_move {
    uint64_t from, size; /* addresses; size 0: nothing moves */
    uint64_t to;
};

struct elf_copy {
    uint64_t section_address; /* of .sframe */
    uint64_t address, offset; /* of the new segment: what was moved there, then .sframe */
    uint64_t page_size;
    size_t phdr_count;
    struct elf_move near, far; /* behind the program headers, and to the new segment */
    uint8_t *appended;
    struct output_part parts[2];
};

/*
 * Finds the places of things, which do not depend on the size of the section.
 *
 * @return false: there is no room, or the file contradicts itself; the fault is written
 */
bool elf_copy_plan(struct elf_copy *out, struct object_fault *fault, const struct object *object);

/*
 * Makes the parts of a planned copy: the image of the file, which is changed for it, and
 * copy->appended, which is for free().
 *
 * @param type  the section's, SHT_...
 * @return false: no memory
 */
bool elf_copy_make(struct elf_copy *copy, const struct object *object, const uint8_t *section,
                   size_t size, uint32_t type);

#endif
