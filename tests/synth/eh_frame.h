/* What .eh_frame says, by elfutils (libdw), and whether a version of .sframe can say it. */
#ifndef SYNTH_EH_FRAME_H
#define SYNTH_EH_FRAME_H

#include <elfutils/libdw.h>

#include "answer.h"

/*
 * Nothing is believed to be inexpressible: what an expression gives is computed for two sets of
 * made-up registers, and whatever comes to "a register, or the CFA, + a constant" is that.
 *
 * @param version  1, 2 or 3
 * @return given: if a row can state it
 */
struct answer eh_frame_answer(Dwarf_Frame *frame, const struct machine *machine, unsigned version,
                              uint64_t pc);

/* Whether the answer depends on the pc within the row. */
bool eh_frame_varies(Dwarf_Frame *frame, const struct machine *machine);

#endif
