/*
 * The sockets that hand a session's descriptors out, to agents that cannot open /proc/PID/fd: an abstract one, for its
 * network namespace, and one in the file system, for others.
 */
#ifndef RECORDER_HANDOUT_H
#define RECORDER_HANDOUT_H

#include <pthread.h>
#include <stdbool.h>

enum { SFB_HANDOUT_KEY = 32, SFB_HANDOUT_WAYS = 2 }; /* digits; sockets */

struct sfb_handout {
    int memory, beacon;             /* descriptors that are sent; not closed */
    int listener[SFB_HANDOUT_WAYS]; /* abstract, in the file system; -1: none */
    char path[96];                  /* of the second one, in a folder of its own; "": none */
    pthread_t server;
    bool serving;
};

#define SFB_HANDOUT_NONE                                                                           \
    {                                                                                              \
        .memory = -1, .beacon = -1, .listener = { -1, -1 }                                         \
    }

/*
 * Makes the sockets. Where no file can be made there is the abstract one alone.
 *
 * @param key  SFB_HANDOUT_KEY digits
 *
 * @return false: errno says why
 */
bool sfb_handout_open(struct sfb_handout *handout, const char *key);

/*
 * Answers from now on, in a thread of its own: processes of this user, and those that descend from this one.
 *
 * @return NULL, or what could not be done
 */
const char *sfb_handout_serve(struct sfb_handout *handout);

/* Removes what was made. */
void sfb_handout_close(struct sfb_handout *handout);

#endif
