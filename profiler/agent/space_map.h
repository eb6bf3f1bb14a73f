/* Maps the session at start: all of it, or windows under RLIMIT_AS. space.h: how much. */
#ifndef PROFILER_AGENT_SPACE_MAP_H
#define PROFILER_AGENT_SPACE_MAP_H

#include "profiler/agent/space.h"

/*
 * Maps the session's memory, or windows of it under RLIMIT_AS. Called once, at start, with the kind set.
 *
 * @param session  a copy of its header
 *
 * @return the mapped header; NULL: it does not fit, which is counted in the session
 */
struct sfb_shared *sfb_space_map(int fd, const struct sfb_shared *session, uint32_t ring_bytes);

/* Maps the threads' own parts of the rings in the window. @return address of ring 0's part, mapped or not; NULL: no memory */
void *sfb_space_map_threads(void);

#endif
