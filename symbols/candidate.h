/*
 * Opens and checks one candidate file. Its name may come from a report, a map or another file, and
 * its bytes are untrusted.
 */
#ifndef SYMBOLS_CANDIDATE_H
#define SYMBOLS_CANDIDATE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/build_id.h"
#include "symbols/trail.h"

/* An ELF file that was opened. */
struct object_opened {
    Elf *elf; /* NULL: not open */
    int fd;   /* -1: closed; see object_opened_keep() */
    char *path;
};

/* Demands on a file. */
struct object_wanted {
    enum object_part part;
    struct object_build_id id; /* empty: any */
    bool has_crc;
    uint32_t crc; /* CRC-32 of the whole file, as .gnu_debuglink has it */
};

/*
 * Opens a file if it fits, and adds the result to the trail in any case.
 *
 * The file is mapped: of gigabytes of debug information a few pages are read.
 */
bool object_candidate_open(struct object_opened *out, const char *path,
                           const struct object_wanted *wanted, struct object_trail *trail);

/* The same for an image in memory, which is borrowed. @param place  its name in the trail */
bool object_candidate_image(struct object_opened *out, void *image, size_t size, const char *place,
                            const struct object_wanted *wanted, struct object_trail *trail);

/*
 * Closes the descriptor and keeps the file open: a report may name more files than a process may
 * have descriptors. libdw uses the descriptor in dwarf_begin_elf() only, to find the file's path.
 */
void object_opened_keep(struct object_opened *opened);

void object_opened_close(struct object_opened *opened);

/* Whether a file has bytes in a section of that name. */
bool object_has_section(Elf *elf, const char *name);

/* Whether a file itself has debug information. */
bool object_has_dwarf(Elf *elf);

#endif
