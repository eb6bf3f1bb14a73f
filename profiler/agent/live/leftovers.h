/* Files of live tables whose processes were killed: the newest three of a program stay for `sfb ctl`. */
#ifndef PROFILER_AGENT_LIVE_LEFTOVERS_H
#define PROFILER_AGENT_LIVE_LEFTOVERS_H

/*
 * Removes older files of this user, and files that their processes could not remove at a clean exit. A locked file is mapped
 * by a process, and stays. Where files have no locks, all stay.
 *
 * @param path  a file in the folder
 *
 * Signals: safe; changes errno. Maps memory, and unmaps it.   Cost: 10 us for each file of this user.
 */
void sfb_live_leftovers_remove(const char *path);

#endif
