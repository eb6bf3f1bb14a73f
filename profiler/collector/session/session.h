/* The memory that a recorder shares with agents, its beacon, and the ways to both: shared.h. */
#ifndef PROFILER_COLLECTOR_SESSION_SESSION_H
#define PROFILER_COLLECTOR_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/collector/session/handout.h"
#include "profiler/protocol/shared.h"

/* Options for the agents. */
struct sfb_recorder_session_options {
    uint32_t mode; /* enum sfb_shared_mode */
    uint32_t flags;
    uint32_t rate_hz, engines; /* CPU time. engines: bit mask, 1 << enum sfb_recording_engine */
    uint64_t heap_rate;        /* the heap: as in struct sfb_shared */
    uint32_t heap_flags;
};

struct sfb_recorder_session {
    struct sfb_shared *shared; /* sfb_shared_size() bytes */
    size_t size;               /* of shared */
    int fd;
    struct sfb_shared_beacon *beacon; /* NULL: not lit */
    struct sfb_handout handout;
    char text[256]; /* value of SFB_SHARED_ENVIRONMENT */
};

/*
 * Makes the memory, of fixed size, and its beacon: lit until the calling thread dies, or closes the session.
 *
 * @param out  written, for sfb_recorder_session_close(), also on failure
 *
 * @return NULL, or the failed call, such as "memfd_create"; see errno
 */
const char *sfb_recorder_session_open(struct sfb_recorder_session *out,
                                      const struct sfb_recorder_session_options *options);

/*
 * Starts a thread that hands out the descriptors to processes of this user, and to descendants of this process.
 *
 * @return NULL, or the failed call
 */
const char *sfb_recorder_session_serve(struct sfb_recorder_session *session);

/* @return number of wake-ups by agents */
uint32_t sfb_recorder_session_seen(const struct sfb_recorder_session *session);

/*
 * Waits until an agent has woken the recorder after the count was `seen`, a signal arrives, or the time is up. @return
 * whether a signal arrived
 */
bool sfb_recorder_session_wait(const struct sfb_recorder_session *session, uint32_t seen,
                               uint64_t ns);

/* Called by the thread that opened it. */
void sfb_recorder_session_close(struct sfb_recorder_session *session);

#endif
