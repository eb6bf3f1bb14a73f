/*
 * Sockets that hand out a session's descriptors to agents that cannot open /proc/PID/fd: an abstract one for its network
 * namespace, and one in the file system for others.
 */
#ifndef PROFILER_COLLECTOR_SESSION_HANDOUT_H
#define PROFILER_COLLECTOR_SESSION_HANDOUT_H

#include <pthread.h>
#include <stdbool.h>

enum { SFB_HANDOUT_KEY = 32, SFB_HANDOUT_WAYS = 2 }; /* hex digits; sockets */

struct sfb_handout {
    int memory, beacon;             /* descriptors to send; not closed */
    int listener[SFB_HANDOUT_WAYS]; /* abstract, in the file system; -1: closed */
    char path[96];                  /* of the second one, in a folder of its own; "": no file */
    pthread_t server;
    bool serving;
};

#define SFB_HANDOUT_NONE                                                                           \
    {                                                                                              \
        .memory = -1, .beacon = -1, .listener = { -1, -1 }                                         \
    }

/*
 * Makes the sockets: only the abstract one if no file can be made.
 *
 * @param key  SFB_HANDOUT_KEY digits
 *
 * @return false: see errno
 */
bool sfb_handout_open(struct sfb_handout *handout, const char *key);

/*
 * Starts a thread that answers processes of this user, and descendants of this process.
 *
 * @return NULL, or the name of the failed call
 */
const char *sfb_handout_serve(struct sfb_handout *handout);

/* Removes the sockets. */
void sfb_handout_close(struct sfb_handout *handout);

#endif
