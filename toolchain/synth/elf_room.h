/* Room for more program headers: see elf_copy.h. */
#ifndef TOOLCHAIN_SYNTH_ELF_ROOM_H
#define TOOLCHAIN_SYNTH_ELF_ROOM_H

#include "symbols/object.h"

/* Loaded bytes that go elsewhere. */
struct elf_move {
    uint64_t from, size; /* addresses; size 0: nothing moves */
    uint64_t to;
};

/*
 * Finds what has to move so that program headers can grow.
 *
 * @param near       what moves by `more`, to stay behind them; not written: .to of far
 * @param segment    where they are loaded
 * @param table_end  their end in memory
 * @param more       bytes, a multiple of 8
 * @return false: something else stands there
 */
bool elf_room_find(struct elf_move *near, struct elf_move *far, const struct object *object,
                   const GElf_Phdr *segment, uint64_t table_end, uint64_t more);

#endif
