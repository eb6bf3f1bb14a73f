/* A frame with its functions, a line each: what each command prints that shows stacks. */
#ifndef CLI_FRAME_PRINT_H
#define CLI_FRAME_PRINT_H

#include <stdint.h>

#include "symbols/demangle.h"
#include "symbols/symbols.h"

struct frame_print {
    uint64_t number;
    uint64_t address;
    enum object_name_style names;
};

/* @param lookup  the address that is looked up: of a return address, the byte before it */
void frame_print(struct symbols *symbols, const struct frame_print *frame, uint64_t lookup);

#endif
