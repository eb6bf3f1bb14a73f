/* Starts of functions without a symbol, by .eh_frame: stripped programs keep their tables. */
#ifndef SYMBOLS_FRAME_START_H
#define SYMBOLS_FRAME_START_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/eh_frame.h"
#include "symbols/object.h"

/* Zeroed at first. */
struct object_frame_starts {
    bool asked, good;
    struct object object;
    struct object_eh_frame tables;
};

/*
 * @param elf      borrowed until the starts are closed
 * @param address  as linked
 *
 * @return the start of the function at the address; 0: unknown
 */
uint64_t object_frame_start(struct object_frame_starts *starts, Elf *elf, uint64_t address);

void object_frame_starts_close(struct object_frame_starts *starts);

#endif
