/* What of the session is mapped at start: all, or windows where RLIMIT_AS stands. space.h: how much. */
#ifndef SFB_RECORD_SPACE_MAP_H
#define SFB_RECORD_SPACE_MAP_H

#include "record/space.h"

/*
 * Maps the session's memory, or windows of it where RLIMIT_AS stands. Once, at start, with the kind set.
 *
 * @param header  its first page, mapped, and left so
 *
 * @return where the header is from now on: another place if all is mapped. NULL: it does not fit, which is counted in
 *         the session
 */
struct sfb_shared *sfb_space_map(int fd, struct sfb_shared *header, uint32_t ring_bytes);

/* Maps the threads' own parts, of the rings in the window. @return of ring 0, mapped or not; NULL: no memory */
void *sfb_space_map_threads(void);

#endif
