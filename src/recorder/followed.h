/* What is known of a process that is followed: shared by follow.c and stray.c. */
#ifndef RECORDER_FOLLOWED_H
#define RECORDER_FOLLOWED_H

#include "recorder/drain.h"
#include "recorder/events.h"

struct sfb_recorder_followed {
    pid_t pid;              /* as it knows itself; 0: nobody has the slot */
    pid_t here;             /* its number here; 0: it was not found */
    uint32_t id;            /* in the recording */
    uint64_t pid_space;     /* as it told, in which pid is its number; 0: it did not */
    int pidfd;              /* -1: none */
    bool same;              /* both numbers are the same, and so are those of its threads */
    bool lost;              /* nobody knows its number here, nor that it has ended */
    uint64_t searched;      /* since then, CLOCK_MONOTONIC in ns; 0: not yet */
    bool told;              /* the drain knows of its end */
    unsigned waits;         /* looks since it has ended, for somebody to say how */
    uint64_t cpu;           /* at the last look */
    uint64_t device, inode; /* of its program */
    bool changed;           /* it was another one at the last look for strays */
    unsigned owner;         /* user */
};

/* A thread without a ring that has an event: an agent claims a ring for it with the first signal. */
struct sfb_recorder_stray {
    pid_t pid;
    struct sfb_recorder_event event; /* fd -1: none */
};

/* A process without an agent. */
struct sfb_recorder_agentless {
    pid_t pid;
    uint64_t cpu;  /* of the process when it was first seen */
    uint64_t last; /* and when it was last seen */
    char name[16];
    bool told;
    bool seen; /* in this look */
};

/* How a process ended that was waited for before it was introduced. */
struct sfb_recorder_reaped {
    pid_t pid;
    uint32_t end, status;
    uint64_t cpu;
};

enum { STRAYS_MAX = 1024, AGENTLESS_MAX = 256, REAPED_MAX = 64 };

struct sfb_recorder_follow {
    struct sfb_shared *shared;
    uint32_t ring_bytes; /* as the session began */
    const struct sfb_shared_process *processes;
    struct sfb_recorder_events *events; /* NULL: none are opened */
    pid_t first;
    bool no_children;
    struct sfb_recording_writer *writer;
    struct sfb_recorder_drain *drain;
    size_t pidfds, pidfds_max;
    struct {
        pid_t pid, here;
        bool same;
        uint64_t pid_space;
    } executing; /* between two slots; pid 0: nobody is */
    bool first_ended;
    int first_status;
    unsigned looks;
    struct sfb_recorder_followed process[SFB_SHARED_PROCESS_MAX];
    struct sfb_recorder_event ring[SFB_SHARED_RING_MAX];
    struct sfb_recorder_stray stray[STRAYS_MAX];
    struct sfb_recorder_agentless agentless[AGENTLESS_MAX];
    struct sfb_recorder_reaped reaped[REAPED_MAX];
    size_t reaped_next;
};

#endif
