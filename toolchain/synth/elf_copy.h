/*
 * A copy of a program or shared library that loads an .sframe section.
 *
 * The section gets a segment of its own, at the end of the file and, in memory, behind all others.
 * Its program header and PT_GNU_SFRAME's go where program headers have to be, behind the present
 * ones: sections in the way move.
 *
 *     before   | headers | .interp .note.* | .gnu.hash | .dynsym ...
 *     after    | headers + 2 | .interp .note.* |         .dynsym ...    | .gnu.hash | .sframe
 *
 * Nothing but the dynamic section and the program headers says where those are, and both are
 * corrected. Program headers at the end of the file would be less work, but kernels before 5.18, the
 * loader and readers of memory (ours, and readers of core files) expect them as far from the ELF header
 * as in the file. GNU strip puts such a segment over .bss.
 *
 * A file that is such a copy has the segment already: its section is replaced, and the file does not grow.
 */
#ifndef TOOLCHAIN_SYNTH_ELF_COPY_H
#define TOOLCHAIN_SYNTH_ELF_COPY_H

#include "symbols/object.h"
#include "toolchain/synth/elf_room.h"
#include "util/output.h"

enum { ELF_SECTION_ALIGN = 8 }; /* of .sframe and of tables of headers */

static inline uint64_t elf_align(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

struct elf_copy {
    uint64_t section_address; /* of .sframe */
    uint64_t address, offset; /* of the new segment: what was moved there, then .sframe */
    uint64_t page_size;
    uint64_t kept; /* bytes of the file's own last segment, which is written again */
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
