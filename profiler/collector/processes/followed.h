/* State of followed processes, shared by follow.c and untracked.c. */
#ifndef PROFILER_COLLECTOR_PROCESSES_FOLLOWED_H
#define PROFILER_COLLECTOR_PROCESSES_FOLLOWED_H

#include "profiler/collector/processes/elsewhere.h"
#include "profiler/collector/processes/perf_events.h"
#include "profiler/collector/rings/drain.h"

struct sfb_recorder_followed {
    pid_t pid;              /* in its own namespace; 0: the slot is free */
    pid_t here;             /* its pid here; 0: not found */
    uint32_t id;            /* in the recording */
    uint64_t pid_space;     /* of `pid`, as its agent reports it; 0: not reported */
    int pidfd;              /* -1: closed */
    bool same;              /* its pid and tids are the same here */
    bool lost;              /* its pid here is unknown, and so is whether it has ended */
    uint64_t searched;      /* since this time, CLOCK_MONOTONIC in ns; 0: not yet */
    bool told;              /* its exit was reported to the drain */
    unsigned waits;         /* looks since its exit, waiting for its exit status */
    uint64_t cpu;           /* at the last look, or before its exec */
    bool executed;          /* another program, and its agent has not come */
    bool came, left;        /* reported elsewhere: its agent has come, has gone */
    uint64_t device, inode; /* of its program's file */
    bool changed;           /* another program at the last look for untracked processes */
    unsigned owner;         /* user id */
    pid_t parent;           /* its pid here when found; 0: unknown */
    bool fresh;             /* just found, with a handler for the events' signal */
};

/* A thread with an event but no ring: its agent claims a ring at the first signal. */
struct sfb_recorder_untracked {
    pid_t pid;
    struct sfb_recorder_event event; /* fd -1: unused */
};

/* A process without an agent. */
struct sfb_recorder_agentless {
    pid_t pid;
    uint64_t cpu;  /* of the process when first seen */
    uint64_t last; /* of the process when last seen */
    char name[16];
    bool told;
    bool seen;      /* in this look */
    bool elsewhere; /* recorded another way */
};

/* The exit of a process that was reaped before its slot was read. */
struct sfb_recorder_reaped {
    pid_t pid;
    uint32_t end, status;
    uint64_t cpu;
};

enum { UNTRACKED_MAX = 1024, AGENTLESS_MAX = 256, REAPED_MAX = 64 };

struct sfb_recorder_follow {
    struct sfb_shared *shared;
    uint32_t ring_bytes; /* as the session began */
    const struct sfb_shared_process *processes;
    struct sfb_recorder_events *events; /* NULL: no events */
    pid_t first;
    bool no_children;
    struct sfb_recorder_elsewhere elsewhere;
    const char *alone;
    struct sfb_recording_writer *writer;
    struct sfb_recorder_drain *drain;
    size_t pidfds, pidfds_max;
    uint64_t pid_space, time_space; /* of this process; 0: unknown */
    struct {
        pid_t pid, here;
        bool same;
        uint64_t pid_space;
    } executing; /* an exec from one slot to another; pid 0: none in progress */
    bool first_ended;
    int first_status;
    unsigned looks;
    struct sfb_recorder_followed process[SFB_SHARED_PROCESS_MAX];
    struct sfb_recorder_event ring[SFB_SHARED_RING_MAX];
    struct sfb_recorder_untracked untracked[UNTRACKED_MAX];
    struct sfb_recorder_agentless agentless[AGENTLESS_MAX];
    struct sfb_recorder_reaped reaped[REAPED_MAX];
    size_t reaped_next;
};

#endif
