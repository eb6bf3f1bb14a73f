/*
 * The lists of modules of the table. What dlopen() adds goes into the list that holds; what dlclose() takes away begins
 * another one, and the one before is kept: the stacks that name it are in its modules.
 *
 * The list that holds has two places, of which one is whole at any time. Those before it lie behind these two.
 */
#ifndef SFB_RECORD_LIVE_LISTS_H
#define SFB_RECORD_LIVE_LISTS_H

#include <stdbool.h>

#include "record/live/table.h"

/* The first list of a table. */
void sfb_live_lists_begin(void);

/*
 * The modules may have changed. Where another thread is at it, that one sees the change, or the next look does.
 *
 * @param unloaded  one may be gone
 *
 * Signals: safe.   Cost: 3 us a module.
 */
void sfb_live_lists_renew(bool unloaded);

/* A library comes that nobody waits for: looks fifty times, for a second. Signals: safe. */
void sfb_live_lists_expect(void);

/*
 * Copies the lists that hold, or held, of a table to where they are in its area, and the header beside them. They are one
 * picture: no list is renewed meanwhile.
 *
 * @param lists  table->map->lists_size bytes
 * @return false: a thread that writes one did not come to its end for a second
 *
 * Signals: safe.
 */
bool sfb_live_lists_copy(const struct sfb_live_table *table, struct sfb_live *head, uint8_t *lists);

/* Renews if it is time to look for what came without dlopen(): ten times a second, for a thousandth of the time at most. */
void sfb_live_lists_look(void);

#endif
