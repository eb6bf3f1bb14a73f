/*
 * Where functions without a symbol begin: what .eh_frame says. A stripped program has its tables still.
 */
#ifndef OBJECT_FRAME_START_H
#define OBJECT_FRAME_START_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "object/eh_frame.h"
#include "object/object.h"

/* All zero at first. */
struct object_frame_starts {
    bool asked, good;
    struct object object;
    struct object_eh_frame tables;
};

/*
 * @param elf      borrowed until the starts are closed
 * @param address  as linked
 *
 * @return where the function begins that has the address; 0: not known
 */
uint64_t object_frame_start(struct object_frame_starts *starts, Elf *elf, uint64_t address);

void object_frame_starts_close(struct object_frame_starts *starts);

#endif
