/* Tables, and code patterns, as the first source of a frame. See the .c file. */
#ifndef SFB_UNWIND_WALK_SOURCE_TABLES_H
#define SFB_UNWIND_WALK_SOURCE_TABLES_H

#include "unwind/walk/walk_state.h"

/*
 * Takes the walker's registers from its current frame to the caller's; only on SFB_OK.
 *
 * @param source  what answered, or what failed last; why those before it failed is in
 *                walker->current.missed
 * @return SFB_OK, SFB_END, what sfb_step() says; a miss, or what is wrong with a table
 */
enum sfb_status sfb_tables_step(struct sfb_walk *walker, enum sfb_source *source);

/*
 * The same for an interrupted frame in a module, before any table: by the instruction at its pc.
 *
 * @return SFB_OK, what sfb_step() says; SFB_NO_CODE_PATTERN: it says nothing
 */
enum sfb_status sfb_instruction_step(struct sfb_walk *walker);

#endif
