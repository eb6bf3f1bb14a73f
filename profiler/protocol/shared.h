/*
 * Memory shared by `sfb record` and the agents in the recorded processes: two memory files (memfd_create()). The
 * recorder makes and seals them. Each agent maps them and closes the descriptors at once.
 *
 * The beacon is one page, struct sfb_shared_beacon; only the recorder can write it. All write the memory:
 *
 *     offset 0                 struct sfb_shared
 *     SFB_SHARED_PROCESSES_AT  SFB_SHARED_PROCESS_MAX slots of struct sfb_shared_process
 *     SFB_SHARED_RINGS_AT      SFB_SHARED_RING_MAX slots: struct sfb_shared_ring, and ring_bytes of data behind it
 *
 * A session has one mode: CPU time or the heap. The file is large but sparse: a page is allocated at its first write.
 *
 * The recorder trusts no byte of it: the program may overwrite all. It copies data before it checks them. Its own state
 * (slots introduced, read positions) lies in private memory. The agent trusts the recorder's values within their bounds.
 */
#ifndef PROFILER_PROTOCOL_SHARED_H
#define PROFILER_PROTOCOL_SHARED_H

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/recording.h"

/*
 * Environment variable of recorded processes: "PID:MEMORY:BEACON:DEVICE:INODE:KEY:PATH". PID and the two descriptors are
 * the recorder's, decimal. DEVICE and INODE are the beacon's, hexadecimal. KEY has 32 hexadecimal digits. PATH may be
 * empty.
 *
 * The beacon's inode identifies the session, however the file was reached; any other file is refused. The kernel never
 * reuses a memory file's inode number (before Linux 5.9: after 2^32 files).
 */
#define SFB_SHARED_ENVIRONMENT "SFB_RECORD_SESSION"

/*
 * Where agents look for the files, in this order. Several ways, because none works in every namespace. No descriptor is
 * inherited: the program would notice it.
 *
 *     /proc/PID/fd/      needs the same PID namespace, and ptrace access to the recorder
 *     abstract socket    "sfb-record-KEY": needs the same network namespace; any user, any root
 *     socket at PATH     needs the same file system; any PID and network namespace
 *
 * A socket (SOCK_STREAM) sends one byte with both descriptors (SCM_RIGHTS), memory and beacon. The agent waits one
 * second for it.
 */
#define SFB_SHARED_SOCKET "sfb-record-"

#define SFB_SHARED_MAGIC "sfb-mem" /* 8 bytes with the '\0' */

enum {
    SFB_SHARED_VERSION = 10,
    SFB_SHARED_PAGE = 4096,
    SFB_SHARED_PROCESS_MAX = 512,                       /* recorded at the same time */
    SFB_SHARED_RING_MAX = 1024,                         /* threads recorded at the same time */
    SFB_SHARED_KNOWN = 16384,                           /* stack hashes remembered per process */
    SFB_SHARED_MODULES = 258048 - 8 * SFB_SHARED_KNOWN, /* bytes of a module list */
    SFB_SHARED_CPU_RING = 57344,   /* 56 KiB: 1,024 rings with their headers are 60 MiB */
    SFB_SHARED_HEAP_RING = 258048, /* 252 KiB: 256 MiB */
    SFB_SHARED_RING_MOST = SFB_SHARED_HEAP_RING,
    SFB_SHARED_MAX_FRAMES = 4096,
    SFB_SHARED_FRAMES_LEAST = 16, /* least that a user may set */
    SFB_SHARED_FRAMES_MOST = 16384,
    SFB_SHARED_TEXT = 3072 /* bytes of a program's path and arguments */
};

/* Requests of the recorder, set before the first agent attaches. */
enum sfb_shared_flags {
    SFB_SHARED_NO_CHILDREN = 1 /* do not follow fork or exec */
};

enum sfb_shared_mode { SFB_SHARED_CPU = 0, SFB_SHARED_HEAP = 1 };

enum sfb_shared_heap_flags {
    SFB_SHARED_HEAP_MMAP = 1,           /* mmap(), munmap(), mremap() too */
    SFB_SHARED_HEAP_PYTHON_OBJECTS = 4, /* wrap CPython's allocators */
    SFB_SHARED_HEAP_WAIT =
        2 /* wait for room in a ring while the recorder lives, not just a second */
};

enum sfb_shared_paused {
    SFB_SHARED_RUNS = 0,
    SFB_SHARED_PAUSED = 1, /* no samples, no allocations; frees are written */
    SFB_SHARED_NOT_STARTED =
        2 /* the same, and nothing was recorded so far: frees are of no interest */
};

/*
 * A moment that the program names: sframe_backtrace_record_mark(). The agent takes a free one (FREE -> CLAIMED), writes it, and
 * publishes it (LIVE). The recorder writes it to the recording, and frees it.
 */
enum { SFB_SHARED_MARKS = 16, SFB_SHARED_MARK_NAME = 64 };

struct sfb_shared_mark {
    uint32_t state;                  /* enum sfb_shared_state */
    uint32_t process;                /* slot */
    uint64_t time;                   /* CLOCK_MONOTONIC of the process */
    char name[SFB_SHARED_MARK_NAME]; /* ends with '\0', if it is shorter */
};

struct sfb_shared {
    char magic[8];
    uint32_t version;
    uint32_t rate_hz;
    uint8_t key[16];
    uint32_t engines; /* engines allowed: bit mask, 1 << enum sfb_recording_engine */
    uint32_t flags;
    uint32_t signal; /* SIGPROF */

    uint32_t mode; /* enum sfb_shared_mode */
    uint32_t
        ring_bytes; /* data of each ring, a multiple of 8: SFB_SHARED_CPU_RING or SFB_SHARED_HEAP_RING */
    uint64_t heap_rate; /* mean bytes between two samples; 0: every event */
    uint32_t heap_flags;

    /*
     * Clock of heap records. 1: the processor's counter (rdtsc, cntvct_el0). 0: CLOCK_MONOTONIC in ns. Both less
     * counter_start.
     */
    uint32_t counter;
    uint64_t counter_start;

    /* 0: recording. 1: ended; agents stop their timers and write nothing more. */
    uint32_t ended;

    /*
     * Futex. An agent adds 1 and wakes one waiter for an urgent event: a new process or thread, a ring half full, a
     * pending module list. The recorder also polls every 10 ms.
     */
    uint32_t wake;

    uint64_t lost[SFB_LOSS_COUNT]; /* losses without a slot to count them in; agents add */

    /* CPU ns between two signals of perf events. The recorder raises it if samples cost too much. 0: unstated */
    uint64_t period_ns;
    uint32_t max_frames; /* of a stack of CPU time; 0: SFB_SHARED_MAX_FRAMES */

    /*
     * Where agents look first for a free process slot and a free ring: behind the last one taken, or at the one that the
     * recorder freed. A hint alone: a process that has just begun pays a page fault for each other slot that it looks at.
     */
    uint32_t free_process, free_ring;

    /* enum sfb_shared_paused. The recorder changes it; agents read it at each sample and each allocation. */
    uint32_t paused;

    struct sfb_shared_mark marks[SFB_SHARED_MARKS];
};

/*
 * The recorder writes it before its first child starts, then seals it (F_SEAL_FUTURE_WRITE): agents can only map it
 * read-only. `owner` is a robust lock that the recorder holds while it lives. Its first word is the holder's tid; the
 * kernel clears it when the holder dies, for whatever reason.
 *
 * So one load shows whether the recorder lives: in each namespace, in a signal handler. No other process can fake it.
 * Rejected: a pid (meaningless in another PID namespace, and reused); a heartbeat (a stopped recorder would look dead).
 */
struct sfb_shared_beacon {
    union {
        uint32_t holder; /* & FUTEX_TID_MASK == 0: the recorder has died */
        pthread_mutex_t lock;
        uint8_t room[64];
    } owner;
    char magic[8];
    uint32_t version;
    uint32_t padding;
    uint8_t key[16];
    uint64_t memory_inode; /* on the same device */
};

/* State of a slot. Transitions: the agent FREE -> CLAIMED -> LIVE -> ENDED; the recorder any -> FREE. */
enum sfb_shared_state {
    SFB_SLOT_FREE = 0,
    SFB_SLOT_CLAIMED = 1,
    SFB_SLOT_LIVE = 2,
    SFB_SLOT_ENDED = 3
};

struct sfb_shared_process {
    uint32_t state;
    uint32_t pid; /* in its own PID namespace; set when CLAIMED */
    uint32_t parent_pid;
    uint32_t how;     /* enum sfb_recording_how: STARTED or FORKED; the recorder detects EXECUTED */
    uint32_t parent;  /* FORKED: slot of the parent + 1; else 0 */
    uint32_t tick_ns; /* resolution of this kernel's CPU-time timers */
    uint64_t start;   /* CLOCK_MONOTONIC ns */
    uint64_t cpu_start; /* CLOCK_PROCESS_CPUTIME_ID when the agent began */
    uint64_t end;       /* 0: the agent has not reported the end */
    uint64_t cpu_end;   /* CLOCK_PROCESS_CPUTIME_ID at end */
    uint64_t pid_space; /* inode of the PID namespace that pid belongs to; 0: unknown */
    uint64_t lost[SFB_LOSS_COUNT];

    /*
     * Module list. The agent takes the lock (0 -> 1), writes a list if taken == written, and adds 1 to written. The
     * recorder copies the list and sets taken = written.
     */
    uint32_t modules_lock;
    uint32_t modules_written;
    uint32_t modules_taken;
    uint32_t modules_size;
    uint64_t modules_time;
    char text[SFB_SHARED_TEXT]; /* path of the program, '\0', then its arguments, each with '\0' */
    uint32_t text_size;
    uint32_t
        prof_ignored; /* set before exec for the next agent. 1: the agent ignores SIGPROF, not the program */
    uint64_t heap_used, heap_held; /* bytes, as the allocator says; 0: unknown */
    uint8_t to_next_page[SFB_SHARED_PAGE - SFB_SHARED_TEXT - 4 * 13 - 8 * 8 - 8 * SFB_LOSS_COUNT];

    /*
     * Hashes of stacks published in a ring. Open addressing, at most 8 steps, 0: empty. A hash is written after the
     * record with the stack is published.
     */
    uint64_t known[SFB_SHARED_KNOWN];
    uint8_t modules[SFB_SHARED_MODULES]; /* Compact ImageMap */
};

struct sfb_shared_ring {
    uint32_t state;
    uint32_t process; /* slot */
    uint32_t pid;
    uint32_t tid; /* 0 until CLAIMED is LIVE */
    uint64_t start;
    uint64_t cpu_start;   /* the thread's CPU time when its recording began */
    uint64_t end;         /* 0: the agent has not reported the end */
    uint64_t cpu_end;     /* the thread's CPU time at end; cpu_end - cpu_sampled is unsampled */
    uint64_t cpu_sampled; /* the thread's CPU time at its last recorded sample */
    uint64_t cpu_paused;  /* CPU time that no sample has, as the recording was paused */
    uint64_t
        cpu_resumed; /* set by the recorder: the thread's CPU time when the recording went on; 0: unknown */
    uint64_t lost[SFB_LOSS_COUNT];
    char name[16];
    uint32_t engine; /* the agent's: TIMER, SAMPLER or NONE */
    uint32_t
        event; /* set by the recorder. 1: a perf event samples; the timer covers kernel time. 2: refused */
    uint32_t cost_ns; /* mean cost of the thread's last handler calls; 0: unknown */
    uint32_t
        event_fd; /* the perf event's descriptor in the recorder + 1, as in its signals' si_fd; 0: unknown */
    uint32_t
        event_came; /* set by the agent: its first signal has come, and the recorder was woken */

    /*
     * Bytes since the slot was CLAIMED; positions in data are modulo ring_bytes. Each has its own cache line: two
     * processors write them.
     */
    uint8_t to_tail[1024 - 8 * SFB_LOSS_COUNT - 16 - 4 * 9 - 8 * 7];
    uint64_t tail; /* the recorder's read position */
    uint8_t to_head[1024 - 8];
    uint64_t head; /* the agent's write position; stored with release after each record */

    /* Heap. Not 0: the agent has read the clock but not stored head, so an event older than now may still arrive. */
    uint32_t busy;

    /*
     * Heap. 1: the thread waits for room, on a futex at the low half of tail. The recorder stores tail, then wakes the
     * thread if this is set.
     */
    uint32_t waiting;
    uint8_t to_next_page[2048 - 8 - 8];
    uint8_t data[]; /* ring_bytes */
};

/*
 * CPU-time records: multiples of 8 bytes. A record is never split at the end of data; PAD fills the rest.
 *
 * Weight is the thread's CPU time since cpu_sampled, including lost samples.
 */
enum sfb_shared_record {
    SFB_RECORD_PAD = 1, /* only size and kind */
    SFB_RECORD_STACK =
        2, /* struct sfb_shared_sample, then a CBF of cbf_size bytes; defines the stack named hash */
    SFB_RECORD_SAMPLE =
        3, /* struct sfb_shared_sample; a STACK of any thread of the process defined hash. 0: no stack */
    SFB_RECORD_NAME = 4, /* struct sfb_shared_name: the thread's name has changed */
    SFB_RECORD_CODE =
        5 /* struct sfb_shared_code, then name, file and table of lines: a Python function */
};

struct sfb_shared_record_head {
    uint32_t size; /* includes this header and padding */
    uint16_t kind;
    uint16_t cbf_size;
};

struct sfb_shared_sample {
    struct sfb_shared_record_head head;
    uint64_t time;   /* CLOCK_MONOTONIC ns */
    uint64_t weight; /* ns */
    uint64_t hash;
    uint32_t engine; /* enum sfb_recording_engine */
    uint32_t end;    /* enum sfb_status */
    uint32_t
        modules; /* modules_written at the sample: the module list that its addresses refer to */

    /* STACK: struct sfb_shared_call behind the CBF, at a multiple of 8 bytes: calls of Python functions. */
    uint16_t calls;
    uint8_t gil; /* STACK: enum sfb_recording_gil */
    uint8_t padding;
};

/* A Python function that runs in a C frame of the stack. Innermost first: frames ascend. */
struct sfb_shared_call {
    uint64_t
        code; /* a CODE of any thread of the process defined it; 0: what follows is not certain */
    uint32_t instruction; /* bytes from its first; SFB_CPYTHON_BEFORE */
    uint32_t frame;       /* of the stack, innermost 0 */
};

enum {
    SFB_SHARED_CALLS_MAX = 512,
    SFB_SHARED_CODE_NAME = 512, /* most bytes of each, without a '\0' */
    SFB_SHARED_CODE_FILE = 1024,
    SFB_SHARED_CODE_LINES = 16384
};

struct sfb_shared_code {
    struct sfb_shared_record_head head;
    uint64_t
        code; /* identifies it in the process: a hash of its address and of what may change there */
    uint32_t first_line;
    uint16_t name_size, file_size;
    uint32_t lines_size; /* 0: too large, or unreadable */
    uint32_t padding;
};

struct sfb_shared_name {
    struct sfb_shared_record_head head;
    char name[16];
};

/*
 * Heap records: 8-byte words, never split at the end of data.
 *
 * The first word is time << 8 | kind; see `counter`. FREE has the time before the allocator gets the block back, ALLOC
 * the time after it returned it. So by time, an address is freed before it is reused.
 */
enum sfb_shared_heap_record {
    SFB_HEAP_PAD = 1, /* nothing follows up to the end of data */

    /*
     * {hash, cbf_size | calls << 16 | end << 32 | modules << 40, CBF, padded to 8 bytes, calls}: defines the stack named
     * hash in this process. `calls` are so many struct sfb_shared_call. `end` is enum sfb_status; `modules` holds the low
     * bits of modules_written at the event.
     */
    SFB_HEAP_STACK = 2,

    /*
     * {pointer, size | slack << 48, hash}. Slack: usable bytes beyond size, saturated at 65,535. Size: saturated at
     * 2^48 - 1. A STACK of any thread of the process defined hash; 0: no stack.
     */
    SFB_HEAP_ALLOC = 3,
    SFB_HEAP_ALLOC_REALLOC =
        4, /* follows FREE_REALLOC of the same thread; when sampling, maybe without it */
    SFB_HEAP_ALLOC_MMAP = 5, /* mmap(), mremap() */

    SFB_HEAP_FREE = 6, /* {pointer} */
    SFB_HEAP_FREE_REALLOC =
        7, /* {pointer}: before realloc(). If neither ALLOC_REALLOC nor REALLOC_FAILED follows, it freed */
    SFB_HEAP_FREE_MMAP = 8,      /* {address, size}: munmap(), mremap(); any part of a mapping */
    SFB_HEAP_REALLOC_FAILED = 9, /* {pointer}: the block lives on, as before FREE_REALLOC */
    SFB_HEAP_NAME = 10,          /* 16 bytes: the thread's name has changed */

    /* struct sfb_shared_code with this first word in place of its head, then name, file and table of lines: a Python
     * function */
    SFB_HEAP_CODE = 11
};

enum {
    SFB_HEAP_KIND_BITS = 8,
    SFB_HEAP_SLACK_SHIFT = 48,
    SFB_HEAP_CBF_BITS = 16,
    SFB_HEAP_CALLS_SHIFT = 16,  /* 16 bits */
    SFB_HEAP_END_SHIFT = 32,    /* 8 bits */
    SFB_HEAP_MODULES_SHIFT = 40 /* 24 bits */
};

#define SFB_SHARED_PROCESSES_AT ((size_t)SFB_SHARED_PAGE)
#define SFB_SHARED_RINGS_AT                                                                        \
    (SFB_SHARED_PROCESSES_AT + SFB_SHARED_PROCESS_MAX * sizeof(struct sfb_shared_process))

/* True while the recorder lives, stopped or not. Signals: safe. Cost: one load. */
static inline bool sfb_shared_beacon_is_lit(const struct sfb_shared_beacon *beacon)
{
    return __atomic_load_n(&beacon->owner.holder, __ATOMIC_RELAXED) & FUTEX_TID_MASK;
}

static inline uint32_t sfb_shared_ring_bytes(enum sfb_shared_mode mode)
{
    return mode == SFB_SHARED_HEAP ? SFB_SHARED_HEAP_RING : SFB_SHARED_CPU_RING;
}

/* Bytes from one ring's header to the next. */
static inline size_t sfb_shared_ring_stride(uint32_t ring_bytes)
{
    return sizeof(struct sfb_shared_ring) + ring_bytes;
}

/* Bytes of the whole file. */
static inline size_t sfb_shared_size(uint32_t ring_bytes)
{
    return SFB_SHARED_RINGS_AT + SFB_SHARED_RING_MAX * sfb_shared_ring_stride(ring_bytes);
}

/* @param ring_bytes  the caller's copy from the session's start: the shared value may be overwritten */
static inline struct sfb_shared_ring *sfb_shared_ring(struct sfb_shared *shared,
                                                      uint32_t ring_bytes, uint32_t slot)
{
    uint8_t *rings = (uint8_t *)shared + SFB_SHARED_RINGS_AT;

    return (struct sfb_shared_ring *)(void *)(rings + slot * sfb_shared_ring_stride(ring_bytes));
}

_Static_assert(sizeof(struct sfb_shared) <= SFB_SHARED_PAGE, "a page");
_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0, "the word that the kernel writes");
_Static_assert(sizeof(pthread_mutex_t) <= 64, "the same place in each library");
_Static_assert(offsetof(struct sfb_shared_process, known) == SFB_SHARED_PAGE, "a page");
_Static_assert(sizeof(struct sfb_shared_process) == 64 * SFB_SHARED_PAGE, "64 pages");
_Static_assert(offsetof(struct sfb_shared_ring, tail) == 1024, "a line of its own");
_Static_assert(sizeof(struct sfb_shared_ring) == SFB_SHARED_PAGE, "a page");
_Static_assert(offsetof(struct sfb_shared_ring, data) == SFB_SHARED_PAGE, "behind it");
_Static_assert(SFB_SHARED_CPU_RING % SFB_SHARED_PAGE == 0 &&
                   SFB_SHARED_HEAP_RING % SFB_SHARED_PAGE == 0,
               "headers lie on pages");

#endif
