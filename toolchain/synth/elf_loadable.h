/*
 * Checks that a file is a 64-bit program or shared library whose headers let elf_copy.h move sections: its assumptions
 * beyond object_open()'s.
 */
#ifndef TOOLCHAIN_SYNTH_ELF_LOADABLE_H
#define TOOLCHAIN_SYNTH_ELF_LOADABLE_H

#include "symbols/object.h"

/*
 * Opens a file with object_open() and checks it.
 *
 * Guarantees: program headers exist; section names and loaded segments lie in the file; loaded
 * segments ascend in memory and do not overlap.
 *
 * @return false: refused, with the cause in fault; nothing needs closing
 */
bool elf_loadable_open(struct object *out, struct object_fault *fault, uint8_t *image, size_t size);

#endif
