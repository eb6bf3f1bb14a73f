/* The live table (record/live/live.h) instead of a recording: how it begins and ends. */
#ifndef SFB_RECORD_HEAP_TABLE_H
#define SFB_RECORD_HEAP_TABLE_H

#include <stdbool.h>

/* Before the first block, where the environment asks for it. @return whether there is a table */
bool sfb_heap_table_look(void);

/* The program may ask for one by itself from now on. */
void sfb_heap_table_prepare(void);

#endif
