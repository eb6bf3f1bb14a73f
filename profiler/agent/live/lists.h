/*
 * The module lists of the table. A dlopen() extends the current list. A dlclose() starts a new list and keeps the old
 * one: stacks that name the old list lie in its modules.
 *
 * The current list has two buffers, one of which is complete at any time. The kept lists follow these two.
 */
#ifndef PROFILER_AGENT_LIVE_LISTS_H
#define PROFILER_AGENT_LIVE_LISTS_H

#include <stdbool.h>

#include "profiler/agent/live/table.h"

/* Writes the first list of a table. */
void sfb_live_lists_begin(void);

/*
 * Renews the current list after a change of modules. If another thread is renewing it, that thread or the next look sees
 * the change.
 *
 * @param unloaded  a module may be gone
 *
 * Signals: safe.   Cost: 3 us a module.
 */
void sfb_live_lists_renew(bool unloaded);

/* dlopen() is about to run, without a call afterwards: looks fifty times within the next second. Signals: safe. */
void sfb_live_lists_expect(void);

/*
 * Copies the current and kept lists of a table, at their offsets in its area, and the header that matches them. No list
 * is renewed during the copy.
 *
 * @param lists  table->map->lists_size bytes
 * @return false: another thread held the lock for a second
 *
 * Signals: safe.
 */
bool sfb_live_lists_copy(const struct sfb_live_table *table, struct sfb_live *head, uint8_t *lists);

/* Renews if due, for libraries loaded without dlopen(): at most ten times a second, and a thousandth of the time. */
void sfb_live_lists_look(void);

#endif
