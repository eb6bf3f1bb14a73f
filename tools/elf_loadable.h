/*
 * Whether a file is a 64-bit program or shared library whose parts can be moved: what elf_copy.h
 * relies on, beyond what object_open() promises.
 */
#ifndef ELF_LOADABLE_H
#define ELF_LOADABLE_H

#include "object/object.h"

/*
 * Opens one with object_open().
 *
 * What holds afterwards: there are program headers, the names of the sections lie in the file, and so
 * do segments that are loaded, which ascend in memory and do not overlap.
 *
 * @return false: it is none, and the fault says why; nothing is to be closed
 */
bool elf_loadable_open(struct object *out, struct object_fault *fault, uint8_t *image, size_t size);

#endif
