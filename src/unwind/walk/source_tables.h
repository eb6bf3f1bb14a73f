/* Tables, and code patterns, as the first source of a frame. See the .c file. */
#ifndef SFB_UNWIND_WALK_SOURCE_TABLES_H
#define SFB_UNWIND_WALK_SOURCE_TABLES_H

#include "unwind/walk/walk_state.h"

/*
 * Takes the walker's registers from its current frame to the caller's, only on SFB_OK.
 *
 * @param source  written: the source that answered, or that failed last; walker->current.missed has
 *                the statuses of the sources before it
 * @return SFB_OK, SFB_END, as sfb_step(); a miss, or a table's fault
 */
enum sfb_status sfb_tables_step(struct sfb_walk *walker, enum sfb_source *source);

/*
 * The same for an interrupted frame in a module, by the instruction at its pc; before any table.
 *
 * @return SFB_OK, as sfb_step(); SFB_NO_CODE_PATTERN: not a known instruction
 */
enum sfb_status sfb_instruction_step(struct sfb_walk *walker);

#endif
