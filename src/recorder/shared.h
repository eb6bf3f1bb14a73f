/*
 * What `sfb record` and the agents in the recorded processes share: two memory files (memfd_create()), made and sealed by
 * the recorder, mapped by each agent, which closes the descriptors at once.
 *
 * The beacon is one page, struct sfb_shared_beacon, that the recorder alone can write. The memory is written by all:
 *
 *     offset 0                 struct sfb_shared
 *     SFB_SHARED_PROCESSES_AT  SFB_SHARED_PROCESS_MAX slots of struct sfb_shared_process
 *     SFB_SHARED_RINGS_AT      SFB_SHARED_RING_MAX slots: struct sfb_shared_ring, and ring_bytes of data behind it
 *
 * One session records one thing, its mode: CPU time or the heap. Pages are the system's when they are first written: the file is large and mostly not there.
 *
 * The recorder trusts no byte of it: the program may overwrite all. It copies what it judges, and its own state (which
 * slots it has introduced, how far it has read) lies in its own memory. The agent trusts what the recorder writes as
 * far as its bounds.
 */
#ifndef SFB_RECORDER_SHARED_H
#define SFB_RECORDER_SHARED_H

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/recording.h"

/*
 * In the environment of what is recorded: "PID:MEMORY:BEACON:DEVICE:INODE:KEY:PATH". The recorder's pid and its two
 * descriptors, decimal; device and inode of the beacon, hexadecimal; the key, 32 hexadecimal digits; a path, or nothing.
 *
 * The session is the beacon of that inode, wherever it comes from: nothing else that is found on a way is believed. The
 * kernel never gives the number of a memory file again (before Linux 5.9: after 2^32 files).
 */
#define SFB_SHARED_ENVIRONMENT "SFB_RECORD_SESSION"

/*
 * Where the files are found, in this order: no way leads everywhere, and no descriptor is inherited, which the program
 * would meet.
 *
 *     /proc/PID/fd/      the same PID namespace, a process that may look into the recorder
 *     abstract socket    "sfb-record-KEY": the same network namespace, any user, any root
 *     socket at PATH     the same file system: other namespaces of PIDs and of the network
 *
 * A socket (SOCK_STREAM) sends one byte with both descriptors (SCM_RIGHTS), memory and beacon. Without an answer within a
 * second there is none.
 */
#define SFB_SHARED_SOCKET "sfb-record-"

#define SFB_SHARED_MAGIC "sfb-mem" /* 8 bytes with the '\0' */

enum {
    SFB_SHARED_VERSION = 3,
    SFB_SHARED_PAGE = 4096,
    SFB_SHARED_PROCESS_MAX = 512, /* recorded at the same time */
    SFB_SHARED_RING_MAX = 1024,   /* threads recorded at the same time */
    SFB_SHARED_KNOWN = 16384,     /* stacks of a process that its agents remember */
    SFB_SHARED_MODULES = 258048 - 8 * SFB_SHARED_KNOWN, /* bytes of a module list */
    SFB_SHARED_CPU_RING = 57344,   /* 56 KiB: 1,024 rings with their headers are 60 MiB */
    SFB_SHARED_HEAP_RING = 258048, /* 252 KiB: 256 MiB */
    SFB_SHARED_RING_MOST = SFB_SHARED_HEAP_RING,
    SFB_SHARED_MAX_FRAMES = 4096,
    SFB_SHARED_FRAMES_LEAST = 16, /* what may be asked for */
    SFB_SHARED_FRAMES_MOST = 16384,
    SFB_SHARED_TEXT = 3072 /* bytes of a program's path and arguments */
};

/* What the recorder asks for: set before the first agent comes. */
enum sfb_shared_flags {
    SFB_SHARED_NO_CHILDREN = 1 /* neither fork's nor exec's */
};

enum sfb_shared_mode { SFB_SHARED_CPU = 0, SFB_SHARED_HEAP = 1 };

enum sfb_shared_heap_flags {
    SFB_SHARED_HEAP_MMAP = 1, /* mmap(), munmap(), mremap() too */
    SFB_SHARED_HEAP_WAIT = 2  /* for room in a ring as long as the recorder lives, not 10 ms */
};

struct sfb_shared {
    char magic[8];
    uint32_t version;
    uint32_t rate_hz;
    uint8_t key[16];
    uint32_t engines; /* bit mask, 1 << enum sfb_recording_engine: those that may be used */
    uint32_t flags;
    uint32_t signal; /* SIGPROF */

    uint32_t mode; /* enum sfb_shared_mode */
    uint32_t
        ring_bytes; /* data of each ring, a multiple of 8: SFB_SHARED_CPU_RING or SFB_SHARED_HEAP_RING */
    uint64_t heap_rate; /* mean bytes between two samples; 0: every event */
    uint32_t heap_flags;

    /*
     * Of times in records of the heap. 1: the processor's counter (rdtsc, cntvct_el0) less counter_start. 0:
     * CLOCK_MONOTONIC in ns, less counter_start.
     */
    uint32_t counter;
    uint64_t counter_start;

    /* 0: record. 1: ended: agents stop their timers, and write nothing more. */
    uint32_t ended;

    /*
     * Futex: an agent adds 1 and wakes one when something cannot wait: a process or thread that is new, a ring that is half
     * full, modules that wait. The recorder looks every 10 ms without.
     */
    uint32_t wake;

    uint64_t lost[SFB_LOSS_COUNT]; /* where there is no slot to count in; agents add */

    /* CPU ns between two signals of perf's events: the recorder raises it where samples cost too much. 0: not said */
    uint64_t period_ns;
    uint32_t max_frames; /* of a stack of CPU time; 0: SFB_SHARED_MAX_FRAMES */
};

/*
 * Written by the recorder before its first child, then sealed (F_SEAL_FUTURE_WRITE): who has the descriptor maps it to
 * read. `owner` is a robust lock, held by the recorder as long as it lives: its first word is the holder's thread number,
 * and the kernel takes that out when the holder dies, however it does. So one load says whether the recorder lives, in
 * each namespace, in a signal handler, and no other process can make it look alive. (A pid means nothing in another PID
 * namespace, and is used again; a time that the recorder writes now and then says that one that is stopped is dead.)
 */
struct sfb_shared_beacon {
    union {
        uint32_t holder; /* & FUTEX_TID_MASK: 0: the recorder is gone */
        pthread_mutex_t lock;
        uint8_t room[64];
    } owner;
    char magic[8];
    uint32_t version;
    uint32_t padding;
    uint8_t key[16];
    uint64_t memory_inode; /* on the same device */
};

/* Of slots. Only these steps: FREE -> CLAIMED -> LIVE -> ENDED by the agent; any -> FREE by the recorder. */
enum sfb_shared_state {
    SFB_SLOT_FREE = 0,
    SFB_SLOT_CLAIMED = 1,
    SFB_SLOT_LIVE = 2,
    SFB_SLOT_ENDED = 3
};

struct sfb_shared_process {
    uint32_t state;
    uint32_t pid; /* its own view; set when CLAIMED */
    uint32_t parent_pid;
    uint32_t how;    /* enum sfb_recording_how: STARTED or FORKED; the recorder knows of EXECUTED */
    uint32_t parent; /* FORKED: slot of the parent + 1; else 0 */
    uint32_t tick_ns;   /* what the CPU-time timers of this kernel cannot go below */
    uint64_t start;     /* CLOCK_MONOTONIC ns */
    uint64_t cpu_start; /* CLOCK_PROCESS_CPUTIME_ID when the agent began */
    uint64_t end;       /* 0: not ended by itself */
    uint64_t cpu_end;   /* CLOCK_PROCESS_CPUTIME_ID at end */
    uint64_t pid_space; /* inode of its PID namespace, in which pid is its number; 0: not known */
    uint64_t lost[SFB_LOSS_COUNT];

    /*
     * Modules: the agent writes a list when taken == written, with the lock held (0 -> 1), and adds 1 to written; the
     * recorder copies it and sets taken = written.
     */
    uint32_t modules_lock;
    uint32_t modules_written;
    uint32_t modules_taken;
    uint32_t modules_size;
    uint64_t modules_time;
    char text[SFB_SHARED_TEXT]; /* path of the program, '\0', then its arguments, each with '\0' */
    uint32_t text_size;
    uint32_t
        prof_ignored; /* before exec, by the agent for the next one: 1: SIGPROF is ignored for its sake, not the program's */
    uint8_t to_next_page[SFB_SHARED_PAGE - SFB_SHARED_TEXT - 4 * 13 - 8 * 6 - 8 * SFB_LOSS_COUNT];

    /*
     * Hashes of stacks that are in a ring, or were: open addressing, at most 8 steps, 0: empty. Written after the record that
     * has the stack was published.
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
    uint64_t cpu_start; /* the thread's CPU time when it began here */
    uint64_t end;       /* 0: not ended by itself */
    uint64_t
        cpu_end; /* the thread's CPU time then; the rest behind its last sample is that less cpu_sampled */
    uint64_t cpu_sampled; /* the thread's CPU time at its last sample that was recorded */
    uint64_t lost[SFB_LOSS_COUNT];
    char name[16];
    uint32_t engine; /* of the agent: TIMER or SAMPLER, NONE */
    uint32_t
        event; /* the recorder: 1: an event of perf serves; the timer looks for kernel time. 2: it was refused. */
    uint32_t cost_ns; /* of the thread's handler, the mean of its last calls; 0: not known */
    uint32_t
        event_fd; /* of that event, in the recorder: its signals carry this number (si_fd). + 1; 0: not known */

    /*
     * Bytes since the slot was CLAIMED; positions in data are modulo ring_bytes. On lines of their own: two processors
     * write them.
     */
    uint8_t to_tail[1024 - 8 * SFB_LOSS_COUNT - 16 - 4 * 8 - 8 * 5];
    uint64_t tail; /* the recorder: read up to here */
    uint8_t to_head[1024 - 8];
    uint64_t head; /* the agent: written up to here; stored with release after each record */

    /* Of the heap. Not 0: between the clock's reading and the new head; an event may come that is older than now. */
    uint32_t busy;

    /*
     * Of the heap. 1: the thread waits for room, by futex at the low half of tail. The recorder stores tail, and wakes it
     * if this is set.
     */
    uint32_t waiting;
    uint8_t to_next_page[2048 - 8 - 8];
    uint8_t data[]; /* ring_bytes */
};

/*
 * Records of CPU time: multiples of 8 bytes, never split at the end of data: PAD fills it up.
 *
 * Weight is the thread's CPU time since cpu_sampled, what was lost in between included.
 */
enum sfb_shared_record {
    SFB_RECORD_PAD = 1, /* only size and kind */
    SFB_RECORD_STACK =
        2, /* struct sfb_shared_sample, then a CBF of cbf_size bytes: hash is its name from now on */
    SFB_RECORD_SAMPLE =
        3, /* struct sfb_shared_sample; hash was named by a STACK of any thread of the process. 0: none */
    SFB_RECORD_NAME = 4 /* struct sfb_shared_name: the thread's name has changed */
};

struct sfb_shared_record_head {
    uint32_t size; /* with this, and padding */
    uint16_t kind;
    uint16_t cbf_size;
};

struct sfb_shared_sample {
    struct sfb_shared_record_head head;
    uint64_t time;   /* CLOCK_MONOTONIC ns */
    uint64_t weight; /* ns */
    uint64_t hash;
    uint32_t engine;  /* enum sfb_recording_engine */
    uint32_t end;     /* enum sfb_status */
    uint32_t modules; /* modules_written when it was taken: the list with which it has to be read */
    uint32_t padding;
};

struct sfb_shared_name {
    struct sfb_shared_record_head head;
    char name[16];
};

/*
 * Records of the heap: of 8-byte words, never split at the end of data.
 *
 * The first word is the time << 8 | the kind; see `counter`. FREE is taken before the block is given back, ALLOC when
 * the program could have it: by time, an address is freed before it is given out again.
 */
enum sfb_shared_heap_record {
    SFB_HEAP_PAD = 1, /* nothing follows up to the end of data */

    /*
     * {hash, cbf_size | end << 32, CBF, filled up to 8 bytes}: the hash is its name in this process from now on. `end`
     * is enum sfb_status, `modules << 40` the low bits of modules_written when it was taken.
     */
    SFB_HEAP_STACK = 2,

    /*
     * {pointer, size | slack << 48, hash}. Slack is what is usable beyond size, 65,535: so much or more. The size is cut
     * at 2^48 - 1. hash was named by a STACK of any thread of the process; 0: none.
     */
    SFB_HEAP_ALLOC = 3,
    SFB_HEAP_ALLOC_REALLOC =
        4, /* behind FREE_REALLOC of the same thread; of samples, maybe without it */
    SFB_HEAP_ALLOC_MMAP = 5, /* mmap(), mremap() */

    SFB_HEAP_FREE = 6, /* {pointer} */
    SFB_HEAP_FREE_REALLOC =
        7, /* {pointer}: realloc() is about to be called. Nothing follows: it freed */
    SFB_HEAP_FREE_MMAP = 8,      /* {address, size}: munmap(), mremap(); any part of a mapping */
    SFB_HEAP_REALLOC_FAILED = 9, /* {pointer}: it lives on, as it was before FREE_REALLOC */
    SFB_HEAP_NAME = 10           /* 16 bytes: the thread's name has changed */
};

enum {
    SFB_HEAP_KIND_BITS = 8,
    SFB_HEAP_SLACK_SHIFT = 48,
    SFB_HEAP_END_SHIFT = 32,    /* 8 bits */
    SFB_HEAP_MODULES_SHIFT = 40 /* 24 bits */
};

#define SFB_SHARED_PROCESSES_AT ((size_t)SFB_SHARED_PAGE)
#define SFB_SHARED_RINGS_AT                                                                        \
    (SFB_SHARED_PROCESSES_AT + SFB_SHARED_PROCESS_MAX * sizeof(struct sfb_shared_process))

/* Whether the recorder lives, stopped or not. Signals: safe. Cost: one load. */
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

/* @param ring_bytes  as the session began: what stands in the memory may be overwritten */
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
