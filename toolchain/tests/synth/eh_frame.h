/* The rules of .eh_frame by elfutils (libdw), and whether a version of .sframe can state them. */
#ifndef SYNTH_EH_FRAME_H
#define SYNTH_EH_FRAME_H

#include <elfutils/libdw.h>

#include "answer.h"

/*
 * No claim of inexpressibility is believed: an expression is computed for two sets of made-up
 * registers, and any result "a register, or the CFA, + a constant" is expressible.
 *
 * @param version  1, 2 or 3
 * @return given: if a row can state it
 */
struct answer eh_frame_answer(Dwarf_Frame *frame, const struct machine *machine, unsigned version,
                              uint64_t pc);

/* Whether the rule depends on the pc within the row. */
bool eh_frame_varies(Dwarf_Frame *frame, const struct machine *machine);

#endif
