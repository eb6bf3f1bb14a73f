/* Without libdeflate libelf unpacks. */
#include "symbols/unpack.h"

void object_unpack(struct object_unpacked *out, Elf *elf)
{
    (void)elf;
    *out = (struct object_unpacked){ .image = NULL };
}

void object_unpacked_free(struct object_unpacked *unpacked)
{
    (void)unpacked;
}
