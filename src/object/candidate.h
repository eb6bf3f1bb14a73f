/*
 * One file that may be what is looked for: it is opened and checked. Its name may come from a
 * report, a map or another file, and its bytes from anybody.
 */
#ifndef OBJECT_CANDIDATE_H
#define OBJECT_CANDIDATE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "object/build_id.h"
#include "object/trail.h"

/* An ELF file that was opened. */
struct object_opened {
    Elf *elf; /* NULL: none */
    int fd;   /* -1: none; see object_opened_keep() */
    char *path;
};

/* What a file has to be. */
struct object_wanted {
    enum object_part part;
    struct object_build_id id; /* none: any */
    bool has_crc;
    uint32_t crc; /* CRC-32 of the whole file, as .gnu_debuglink has it */
};

/*
 * Opens a file if it is what is wanted, and adds it to the trail in any case.
 *
 * The file is mapped: debug information may be gigabytes of which a few pages are read.
 */
bool object_candidate_open(struct object_opened *out, const char *path,
                           const struct object_wanted *wanted, struct object_trail *trail);

/* The same of an image in memory, which is borrowed. @param place  what the trail calls it */
bool object_candidate_image(struct object_opened *out, void *image, size_t size, const char *place,
                            const struct object_wanted *wanted, struct object_trail *trail);

/*
 * Gives the descriptor back and keeps the file: a report may name more files than a process may have
 * descriptors. libdw asks the descriptor where the file lies, in dwarf_begin_elf() only.
 */
void object_opened_keep(struct object_opened *opened);

void object_opened_close(struct object_opened *opened);

/* Whether a file has a section of that name, with its bytes. */
bool object_has_section(Elf *elf, const char *name);

/* Whether a file has the debug information itself. */
bool object_has_dwarf(Elf *elf);

#endif
