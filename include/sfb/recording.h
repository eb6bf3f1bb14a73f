/**
 * Recordings (*.sfbr): what `sfb record` writes and `sfb report` reads. Stable: members and kinds are added, never
 * changed. In libsfb-recording.a, which needs zstd.
 *
 * A recording is a sequence of blocks: docs/FORMATS.md, "Recording". The writer appends events. The reader gives them
 * back one by one, in the order of the file. Both return faults as values; neither prints.
 *
 * Pointers in an event are valid until the next call with the same reader.
 */
#ifndef SFB_RECORDING_H
#define SFB_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "status.h"

SFB_BEGIN_DECLS

/* The file stores these numbers. */
enum sfb_recording_engine {
    SFB_ENGINE_NONE = 0,
    SFB_ENGINE_PERF = 1,      /* perf task-clock, kernel time too */
    SFB_ENGINE_PERF_USER = 2, /* perf task-clock, user time only */
    SFB_ENGINE_TIMER = 3,     /* a CPU-time timer for each thread */
    SFB_ENGINE_SAMPLER = 4,   /* a thread that reads the CPU clocks of the others */
    SFB_ENGINE_OUTSIDE =
        5, /* from outside: perf events with copies of the stack, kernel time too */
    SFB_ENGINE_OUTSIDE_USER = 6, /* the same, user time only */
    SFB_ENGINE_LOOKS = 7,        /* from outside: looks at threads that run, 100 a second */
    SFB_ENGINE_CALLS = 8         /* no time: each sample is a call that a trace has, of weight 1 */
};

enum sfb_recording_loss {
    SFB_LOSS_RING_FULL = 0,    /* samples: the thread's ring was full */
    SFB_LOSS_NO_RING = 1,      /* threads: no ring was left */
    SFB_LOSS_NO_PROCESS = 2,   /* processes: no slot was left */
    SFB_LOSS_BAD_RING = 3,     /* rings with inconsistent bytes: overwritten by the program */
    SFB_LOSS_NO_TIMER = 4,     /* threads: the system gave no timer */
    SFB_LOSS_NESTED = 5,       /* samples: the signal interrupted the agent in the thread */
    SFB_LOSS_NOT_FOLLOWED = 6, /* processes that were seen and not recorded: the text says why */
    SFB_LOSS_MODULES = 7,      /* module lists that did not fit, or had no module */
    SFB_LOSS_FILE = 8,         /* bytes that could not be written: disk full, --max-size */
    SFB_LOSS_HEAP_EVENTS = 9,  /* heap events: the heap's record is incomplete from there on */
    SFB_LOSS_HEAP_WAITS = 10,  /* no loss: how often a thread waited for room in its ring */
    SFB_LOSS_LATE = 11,        /* samples that came late: each stands for one period only */
    SFB_LOSS_INTERRUPTED = 12, /* the program's system calls that a sample made fail with EINTR */
    SFB_LOSS_RATE = 13,     /* no loss: how often the rate was lowered: samples cost too much CPU */
    SFB_LOSS_CPU = 14,      /* ms of CPU time that processes used and the recording does not have */
    SFB_LOSS_SPACE = 15,    /* processes: a limit on address space leaves no room to record */
    SFB_LOSS_DEEPBIND = 16, /* modules that bypass the heap agent: RTLD_DEEPBIND, __libc_malloc() */
    SFB_LOSS_HEAP_UNSEEN = 17, /* allocations and frees of such libraries that others showed */
    SFB_LOSS_FILTER =
        18, /* processes: not recorded from their filter of system calls on (seccomp) */
    SFB_LOSS_PYTHON = 19, /* processes: an interpreter of a version whose functions are not known */
    SFB_LOSS_LATER = 20,  /* records of a later version, which sfb merge did not know */
    SFB_LOSS_PYTHON_OBJECTS =
        21, /* processes: small objects were asked for, and Python has other allocators */
    SFB_LOSS_PYTHON_FUNCTIONS =
        22, /* processes: with more functions of Python than find room: those have no names */
    SFB_LOSS_LOOKS =
        23, /* no loss: threads whose waits are as exact as looks are apart; text: why */
    SFB_LOSS_COUNT
};

enum sfb_recording_how { /* how a process came to be */
                         SFB_PROCESS_STARTED =
                             0, /* started by `sfb record`, or began to record itself */
                         SFB_PROCESS_FORKED = 1,
                         SFB_PROCESS_EXECUTED =
                             2 /* a new program in a recorded process, or in a child of one */
};

enum sfb_recording_end {                           /* how it ended */
                         SFB_PROCESS_EXITED = 0,   /* status: 0 to 255 */
                         SFB_PROCESS_KILLED = 1,   /* status: the signal */
                         SFB_PROCESS_REPLACED = 2, /* exec: another entry goes on */
                         SFB_PROCESS_LEFT = 3,     /* it still ran when the recording ended */
                         SFB_PROCESS_GONE = 4      /* not known */
};

/* The beginning of the recording. Times are CLOCK_MONOTONIC in ns, but for realtime. */
struct sfb_recording_start {
    uint64_t monotonic; /* of the beginning */
    uint64_t realtime;  /* CLOCK_REALTIME at the same instant */
    uint64_t tick_ns;   /* period of the kernel's tick: the shortest period of CPU-time timers */
    uint32_t rate_hz;   /* requested */
    uint32_t engine;    /* enum sfb_recording_engine, at the start */
    uint32_t recorder_pid;
    uint32_t abi;            /* enum sfb_abi */
    const char *engine_text; /* UTF-8: why this engine, as in "perf: refused (EACCES)"; may be "" */
    const char *version;     /* of the writing program */
    const char *host;        /* as uname -a */
    const char *command;     /* the whole command line, words separated by '\0' */
    size_t command_size;     /* bytes, with the last '\0' */
    const char *labels;      /* key=value, each with its '\0' */
    size_t labels_size;      /* bytes; 0: none */
};

struct sfb_recording_process {
    uint32_t id;     /* 1, 2, ...: in this recording */
    uint32_t parent; /* id; 0: the parent is not recorded */
    uint32_t pid, parent_pid;
    uint32_t how; /* enum sfb_recording_how */
    uint64_t time;
    uint64_t cpu_ns;       /* its CPU time when recording began: not in any weight */
    const char *program;   /* path */
    const char *arguments; /* separated by '\0' */
    size_t arguments_size;
};

struct sfb_recording_process_end {
    uint32_t id;
    uint32_t end; /* enum sfb_recording_end */
    uint32_t status;
    uint64_t time;
    uint64_t cpu_ns; /* its CPU time from the beginning of its recording to its end; 0: not known */
    uint64_t unsampled_ns; /* part of cpu_ns outside of all samples and threads' unsampled_ns */
};

struct sfb_recording_thread {
    uint32_t id;      /* 1, 2, ... */
    uint32_t process; /* id */
    uint32_t tid;
    uint32_t engine; /* enum sfb_recording_engine; again when it changes */
    uint64_t time;
    const char *name; /* again when it changes */
    uint32_t idle;    /* of a merged recording: 1, and 1 for each thread of a pool that this one
                       * stands for, and that waits nearly all its time; others: 0 */
};

struct sfb_recording_thread_end {
    uint32_t id;
    uint64_t time;
    uint64_t cpu_ns;       /* from the start of its recording to its end */
    uint64_t unsampled_ns; /* CPU time after its last sample; without samples, all of it */
};

struct sfb_recording_modules { /* all modules of a process from then on */
    uint32_t process;
    uint64_t time;
    const void *map; /* Compact ImageMap: sfb/image_map.h */
    size_t size;
};

struct sfb_recording_stack {
    uint32_t id; /* 1, 2, ...: in this recording. Each stack of a process once. */
    uint32_t process;
    const void *cbf;
    size_t size;
};

/* A function of an interpreter: CPython's. Its name stands once in a recording for each process. */
struct sfb_recording_code {
    uint32_t id; /* 1, 2, ...: in this recording */
    uint32_t process;
    uint32_t first_line; /* where it is defined; 0: not known */
    const char *name;    /* qualified: "Shop.cart"; UTF-8 */
    const char *file;
};

/* A call of such a function, in a stack: the C function of the interpreter that ran it is a frame of the CBF. */
struct sfb_recording_code_frame {
    uint32_t frame; /* index of that frame in the CBF, innermost 0, repeats counted one by one */
    uint32_t code;  /* id; 0: what follows up to the next frame is not certain */
    uint32_t line;  /* 0: not known */
};

/* The interpreter's lock, when the thread had the stack. */
enum sfb_recording_gil {
    SFB_GIL_UNKNOWN = 0, /* or it is no thread of the interpreter */
    SFB_GIL_HELD = 1,
    SFB_GIL_WAITED = 2,  /* the thread slept until it is free */
    SFB_GIL_RELEASED = 3 /* it needed none: it ran C, or slept elsewhere */
};

/* The calls of a stack, innermost first: frames ascend. After the stack's own event. */
struct sfb_recording_code_frames {
    uint32_t stack; /* id */
    const struct sfb_recording_code_frame *frames;
    size_t count;
    uint32_t gil; /* enum sfb_recording_gil */
};

enum { SFB_RECORDING_CODE_FRAMES_MAX = 65536 }; /* of a stack */

struct sfb_recording_sample {
    uint32_t thread; /* id */
    uint32_t stack;  /* id; 0: no stack could be captured */
    uint64_t time;
    uint64_t weight; /* CPU ns of the thread since its last sample */
    uint32_t engine; /* enum sfb_recording_engine that took it */
    uint32_t end;    /* enum sfb_status: how the walk ended, as in sframe_backtrace_info */
};

enum sfb_recording_state {                         /* of a thread that does not run */
                           SFB_STATE_RUNNABLE = 0, /* it waits for a CPU */
                           SFB_STATE_ASLEEP = 1,   /* in a system call */
                           SFB_STATE_DISK = 2,     /* in a system call, uninterruptible */
                           SFB_STATE_FAULT = 3,    /* in no system call: a page is read */
                           SFB_STATE_STOPPED = 4,  /* by job control, or a debugger */
                           SFB_STATE_UNKNOWN = 5,  /* blocked while it was not looked at */
                           SFB_STATE_COUNT
};

struct sfb_recording_wait { /* a thread waited, up to a time */
    uint32_t thread;        /* id */
    uint32_t stack;         /* id; 0: not known */
    uint64_t time;
    uint64_t weight;       /* ns of it since its last sample or wait */
    uint32_t state;        /* enum sfb_recording_state */
    uint32_t end;          /* enum sfb_status: how the walk ended */
    const char *call;      /* name of the system call; "": none, or not known */
    uint32_t awaited;      /* id of what it waited for; 0: not known */
    uint64_t since;        /* when the wait began, of which this is a part; 0: not known */
    uint32_t holder;       /* id of the thread that had the mutex; 0: no mutex, or not known */
    uint32_t holder_stack; /* id: its stack at that moment; 0: not known */
    uint32_t waker;        /* id of the thread that ended the wait; 0: not recorded, or not known */
    uint32_t waker_stack;  /* id: its stack at that moment; 0: not known */
    const char
        *waker_name; /* if no recorded thread did: "interrupt", "nginx (pid 4711)"; "": not known */
};

enum sfb_recording_awaited_kind {
    SFB_AWAITED_FUTEX = 0,
    SFB_AWAITED_FILE = 1, /* its name is its path */
    SFB_AWAITED_PIPE = 2,
    SFB_AWAITED_SOCKET = 3, /* "tcp 127.0.0.1:5432": of a connected one, its peer */
    SFB_AWAITED_EVENTFD = 4,
    SFB_AWAITED_TIMERFD = 5,
    SFB_AWAITED_EPOLL = 6,
    SFB_AWAITED_OTHER = 7,
    SFB_AWAITED_COUNT
};

/* What threads of a process waited for: a futex, or what a descriptor stood for. */
struct sfb_recording_awaited {
    uint32_t id; /* 1, 2, ...: in this recording */
    uint32_t process;
    uint32_t kind;    /* enum sfb_recording_awaited_kind */
    uint64_t address; /* of a futex; others: 0 */
    uint64_t start;   /* where the module or mapping begins that a futex is in; 0: not known */
    const char
        *name; /* any bytes; of a futex, the path of that module, or "[heap]", "[stack]", "" */
};

struct sfb_recording_mark { /* a moment that was named: `sfb ctl PID mark NAME` */
    uint64_t time;
    const char *name; /* any bytes */
};

struct sfb_recording_pause { /* `sfb record --paused`, `sfb ctl PID stop` and `start` */
    uint64_t time;
    uint32_t paused; /* 1: nothing is recorded from then on. 0: it goes on */
    uint32_t part;   /* merged recordings: which input it is of, 1, 2, ...; 0: all that ran then */
};

struct sfb_recording_losses {
    uint32_t reason;  /* enum sfb_recording_loss */
    uint32_t process; /* id; 0: the recording */
    uint32_t thread;  /* id; 0: the process */
    uint64_t count;   /* since the last event of the same reason, process and thread */
    const char *text; /* why; may be "" */
};

/* A file that the program wrote: /tmp/perf-PID.map. A file above 8 MiB is read as several events, in order. */
struct sfb_recording_file {
    uint32_t process;
    const char *name;
    const void *bytes;
    size_t size;
};

/*
 * The heap. Events and sums name sites: a site is a thread with a stack.
 *
 * In a sampled heap, all blocks and bytes are estimates: each sample is made unbiased, then they are summed. A block of
 * s bytes is sampled with p = 1 - exp(-(s + 1) / rate), and stands for 1 / p blocks and s / p bytes.
 */
enum sfb_recording_heap_flags {
    SFB_HEAP_MMAP = 1,      /* mmap, munmap and mremap, too */
    SFB_HEAP_AGGREGATE = 2, /* sums alone: no events follow */
    SFB_HEAP_LIVE = 4       /* the live blocks at one instant: only `live` is known */
};

struct sfb_recording_heap { /* once for a process with a recorded heap, before its other events */
    uint32_t process;
    uint32_t flags; /* enum sfb_recording_heap_flags */
    uint64_t time;
    uint64_t rate; /* mean bytes between two samples; 0: every allocation */
};

enum sfb_recording_heap_kind {
    SFB_HEAP_MALLOC = 0, /* malloc(), new, and all like them */
    SFB_HEAP_MAPPED = 1  /* mmap() */
};

struct sfb_recording_heap_site {
    uint32_t id;     /* 1, 2, ...: in this recording */
    uint32_t thread; /* id; its process is the site's */
    uint32_t stack;  /* id; 0: no stack could be captured */
    uint32_t kind;   /* enum sfb_recording_heap_kind */
};

struct sfb_recording_heap_amount {
    uint64_t blocks, bytes;
    uint64_t samples;                         /* blocks that were sampled */
    uint64_t blocks_variance, bytes_variance; /* of estimates, saturated; 0: they are exact */
};

enum {
    SFB_HEAP_CLASSES = 48
}; /* class 0: 0; k: 2^(k-1) to 2^k - 1; the last: also everything above */

/*
 * Sums of a site, up to a time: each event replaces the site's one before. A snapshot writes the sites that have
 * changed since the last snapshot; so does the end of their process.
 */
struct sfb_recording_heap_totals {
    uint32_t site;
    uint64_t time;
    struct sfb_recording_heap_amount allocated, live;
    struct sfb_recording_heap_amount peak;      /* live at peak_time of its process */
    struct sfb_recording_heap_amount temporary; /* freed by one of the same thread's next events */
    uint64_t reallocated;                       /* blocks that realloc() made of another block */
    uint64_t longest_chain;                     /* most reallocs of one block */
    uint64_t freed_elsewhere;                   /* blocks that another thread freed */
    uint64_t slack_bytes, live_slack_bytes;     /* usable - requested */
    uint64_t sizes[SFB_HEAP_CLASSES];           /* blocks allocated, by size in bytes */
    uint64_t lifetimes[SFB_HEAP_CLASSES];       /* blocks freed, by lifetime in ns */
    uint64_t overruns, overruns_freed; /* blocks written past their end that live, and freed ones */
};

struct sfb_recording_heap_sum {
    uint64_t blocks, bytes;
};

/*
 * The time line of a process: an event for each 10 ms with activity (100 ms with SFB_HEAP_AGGREGATE), and at its end.
 * In the file it may precede older events.
 */
struct sfb_recording_heap_state {
    uint32_t process;
    uint64_t time;
    struct sfb_recording_heap_sum live, allocated; /* allocated: up to then */
    struct sfb_recording_heap_sum peak;            /* the largest live->bytes so far */
    uint64_t peak_time;                            /* its instant */
    uint64_t resident;                             /* bytes, as the kernel says; 0: not known */
    uint64_t unknown_frees; /* so far: frees of blocks without a recorded allocation */
    uint64_t conflicts;     /* so far: events that contradict others, and were left out */
    uint64_t
        allocator_used; /* bytes in use, as the allocator says: with its own overhead and rounding */
    uint64_t allocator_held; /* bytes that it holds from the system; 0: both are not known */
};

/*
 * Events of a process are in the order in which they happened: a live block is not allocated again, a freed one is not
 * freed again. A free has the site and size of its block. Events of different processes are not in order.
 */
struct sfb_recording_heap_event {
    uint32_t process, site;
    uint64_t time; /* at most 10 ms before it happened */
    uint64_t size; /* bytes requested */
    bool freed;
};

struct sfb_recording_finish { /* last event of a recording; missing: it was cut off */
    uint64_t time;
    uint64_t samples;   /* written */
    uint64_t weight;    /* of all of them */
    const char *reason; /* "the program ended", "interrupted", "--duration", "--max-size", ... */
};

/* --- writer ----------------------------------------------------------------------------------- */

struct sfb_recording_writer; /* opaque */

/* Compresses blocks. The only one is sfb_recording_zstd; a writer that does not name it needs no zstd. */
struct sfb_recording_packer;
extern const struct sfb_recording_packer sfb_recording_zstd;

struct sfb_recording_writer_options {
    size_t size;                               /* sizeof (struct sfb_recording_writer_options) */
    const struct sfb_recording_packer *packer; /* NULL: blocks are not compressed */
    uint64_t max_size; /* bytes of the file, with its finish event; 0: no limit */
};

#define SFB_RECORDING_WRITER_OPTIONS_INIT                                                          \
    {                                                                                              \
        sizeof(struct sfb_recording_writer_options), NULL, 0                                       \
    }

/**
 * Begins a recording at the end of an empty file.
 *
 * @param out   written on SFB_OK; freed by sfb_recording_writer_close()
 * @param fd    open for writing; borrowed
 *
 * @return SFB_OK, SFB_NO_RESOURCE (memory, or the file cannot be written: errno says why), SFB_BAD_ARGUMENT, SFB_NO_SIZE
 *
 * Threads: one at a time.   Signals: NOT safe.
 */
enum sfb_status sfb_recording_writer_open(struct sfb_recording_writer **out, int fd,
                                          const struct sfb_recording_start *start,
                                          const struct sfb_recording_writer_options *options);

/*
 * Each appends one event. It stays in memory until its block is full or sfb_recording_writer_flush() is called. Flush
 * about once a second: small blocks compress badly.
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  it names an id that was not introduced, or introduces one that is not above all before;
 *                           its engine is above 8, or its texts are more than 8 MiB
 *         SFB_NO_RESOURCE   nothing more can be written: sfb_recording_writer_errno() says why. After EFBIG there is
 *                           still room for the ends of threads and processes, losses, sums of the heap, and the end of
 *                           the recording.
 */
enum sfb_status sfb_recording_put_process(struct sfb_recording_writer *writer,
                                          const struct sfb_recording_process *event);
enum sfb_status sfb_recording_put_process_end(struct sfb_recording_writer *writer,
                                              const struct sfb_recording_process_end *event);
enum sfb_status sfb_recording_put_thread(struct sfb_recording_writer *writer,
                                         const struct sfb_recording_thread *event);
enum sfb_status sfb_recording_put_thread_end(struct sfb_recording_writer *writer,
                                             const struct sfb_recording_thread_end *event);
enum sfb_status sfb_recording_put_modules(struct sfb_recording_writer *writer,
                                          const struct sfb_recording_modules *event);
enum sfb_status sfb_recording_put_sample(struct sfb_recording_writer *writer,
                                         const struct sfb_recording_sample *event);
enum sfb_status sfb_recording_put_wait(struct sfb_recording_writer *writer,
                                       const struct sfb_recording_wait *event);
enum sfb_status sfb_recording_put_losses(struct sfb_recording_writer *writer,
                                         const struct sfb_recording_losses *event);
enum sfb_status sfb_recording_put_file(struct sfb_recording_writer *writer,
                                       const struct sfb_recording_file *event);
enum sfb_status sfb_recording_put_code(struct sfb_recording_writer *writer,
                                       const struct sfb_recording_code *event);
enum sfb_status sfb_recording_put_awaited(struct sfb_recording_writer *writer,
                                          const struct sfb_recording_awaited *event);
enum sfb_status sfb_recording_put_mark(struct sfb_recording_writer *writer,
                                       const struct sfb_recording_mark *event);
enum sfb_status sfb_recording_put_pause(struct sfb_recording_writer *writer,
                                        const struct sfb_recording_pause *event);
enum sfb_status sfb_recording_put_heap(struct sfb_recording_writer *writer,
                                       const struct sfb_recording_heap *event);
enum sfb_status sfb_recording_put_heap_site(struct sfb_recording_writer *writer,
                                            const struct sfb_recording_heap_site *event);
enum sfb_status sfb_recording_put_heap_totals(struct sfb_recording_writer *writer,
                                              const struct sfb_recording_heap_totals *event);
enum sfb_status sfb_recording_put_heap_state(struct sfb_recording_writer *writer,
                                             const struct sfb_recording_heap_state *event);

/* Times are kept in steps of 10 ms: all events of a step get the time of its first. */
enum sfb_status sfb_recording_put_heap_event(struct sfb_recording_writer *writer,
                                             const struct sfb_recording_heap_event *event);

/**
 * Gives the id of a stack. Appends the stack if it is new to the process.
 *
 * The writer remembers at most 64 MiB of stacks for all processes. A process that would exceed this gets new ids for
 * stacks that come again.
 *
 * @param id   written on SFB_OK
 * @param cbf  one complete CBF, with `end` or `trunc`, of at most 1 MiB; copied
 *
 * @return SFB_OK; SFB_BAD_ARGUMENT: no such CBF, or the process was not introduced; SFB_NO_RESOURCE: as above
 */
enum sfb_status sfb_recording_put_stack(struct sfb_recording_writer *writer, uint32_t *id,
                                        uint32_t process, const void *cbf, size_t size);

/*
 * The same for a stack with calls of an interpreter's functions: stacks with equal CBF and other calls are others.
 *
 * @param frames  innermost first; their codes were put before
 * @param count   at most SFB_RECORDING_CODE_FRAMES_MAX
 */
enum sfb_status sfb_recording_put_stack_with_code(struct sfb_recording_writer *writer, uint32_t *id,
                                                  uint32_t process, const void *cbf, size_t size,
                                                  const struct sfb_recording_code_frame *frames,
                                                  size_t count);

/*
 * The same for a stack of which more is known: stacks that differ in it are others.
 *
 * @param code  stack is not read; count 0: no calls. An SFB_GIL_UNKNOWN without calls is a stack as any other
 */
enum sfb_status sfb_recording_put_stack_of_code(struct sfb_recording_writer *writer, uint32_t *id,
                                                uint32_t process, const void *cbf, size_t size,
                                                const struct sfb_recording_code_frames *code);

/* Forgets the stacks of a process that has ended or executed another program. Ids stay valid. */
void sfb_recording_forget_stacks(struct sfb_recording_writer *writer, uint32_t process);

/* Writes the events in memory: they survive a crash of the writer. @return SFB_OK, SFB_NO_RESOURCE: as above */
enum sfb_status sfb_recording_writer_flush(struct sfb_recording_writer *writer);

/* Bytes of the file so far, without the events in memory. */
uint64_t sfb_recording_writer_size(const struct sfb_recording_writer *writer);

/* Samples in the file, and their CPU time in ns, without the events in memory. */
uint64_t sfb_recording_writer_samples(const struct sfb_recording_writer *writer, uint64_t *weight);

/* Time of the waits in the file, in ns: of all threads, and without the events in memory. */
uint64_t sfb_recording_writer_waited(const struct sfb_recording_writer *writer);

/* errno of the failed write; EFBIG: max_size was reached; 0: no write failed. */
int sfb_recording_writer_errno(const struct sfb_recording_writer *writer);

/**
 * Ends a recording. Frees the writer, also on failure.
 *
 * @param reason  NULL: no finish event is written, as if the recording was cut off
 *
 * @return SFB_OK; SFB_NO_RESOURCE: something could not be written. The finish event says so if it can be written.
 */
enum sfb_status sfb_recording_writer_close(struct sfb_recording_writer *writer, uint64_t time,
                                           const char *reason);

/* --- reader ----------------------------------------------------------------------------------- */

struct sfb_recording_reader; /* opaque */

enum sfb_recording_kind {
    SFB_EVENT_START = 1,
    SFB_EVENT_PROCESS = 2,
    SFB_EVENT_PROCESS_END = 3,
    SFB_EVENT_THREAD = 4,
    SFB_EVENT_THREAD_END = 5,
    SFB_EVENT_MODULES = 6,
    SFB_EVENT_STACK = 7,
    SFB_EVENT_SAMPLE = 8,
    SFB_EVENT_LOSSES = 9,
    SFB_EVENT_FILE = 10,
    SFB_EVENT_FINISH = 11,
    SFB_EVENT_HEAP = 12,
    SFB_EVENT_HEAP_SITE = 13,
    SFB_EVENT_HEAP_TOTALS = 14,
    SFB_EVENT_HEAP_STATE = 15,
    SFB_EVENT_HEAP_EVENT = 16,
    SFB_EVENT_WAIT = 17,
    SFB_EVENT_CODE = 18,
    SFB_EVENT_CODE_FRAMES = 19,
    SFB_EVENT_AWAITED = 20,
    SFB_EVENT_MARK = 21,
    SFB_EVENT_PAUSE = 22
};

struct sfb_recording_event {
    uint32_t kind; /* enum sfb_recording_kind */
    union {
        struct sfb_recording_start start;
        struct sfb_recording_process process;
        struct sfb_recording_process_end process_end;
        struct sfb_recording_thread thread;
        struct sfb_recording_thread_end thread_end;
        struct sfb_recording_modules modules;
        struct sfb_recording_stack stack;
        struct sfb_recording_sample sample;
        struct sfb_recording_losses losses;
        struct sfb_recording_file file;
        struct sfb_recording_finish finish;
        struct sfb_recording_heap heap;
        struct sfb_recording_heap_site heap_site;
        struct sfb_recording_heap_totals heap_totals;
        struct sfb_recording_heap_state heap_state;
        struct sfb_recording_heap_event heap_event;
        struct sfb_recording_wait wait;
        struct sfb_recording_code code;
        struct sfb_recording_code_frames code_frames;
        struct sfb_recording_awaited awaited;
        struct sfb_recording_mark mark;
        struct sfb_recording_pause pause;
    } of;
};

/* Types of blocks: docs/FORMATS.md, "Recording". More may follow. */
enum {
    SFB_RECORDING_TYPE_START = 1,
    SFB_RECORDING_TYPE_EVENTS = 2,
    SFB_RECORDING_TYPE_FILE = 3,
    SFB_RECORDING_TYPE_HEAP = 18,
    SFB_RECORDING_TYPES = 32
};

/* State of the file, up to the event that the reader gave last. */
struct sfb_recording_health {
    uint64_t size;           /* bytes of the file */
    uint64_t blocks;         /* read */
    uint64_t unknown_blocks; /* of a later version: skipped */
    uint64_t skipped;        /* bytes outside of blocks: the reader went on at the next block */
    uint64_t skipped_at;     /* offset of the first of them */
    uint64_t bad_blocks;     /* blocks with a wrong checksum or wrong contents */
    uint64_t torn;           /* bytes of an incomplete last block */
    uint64_t lost_records;   /* lower bound, by the sequence numbers of blocks */
    bool finished;           /* the finish event was read */
    uint64_t
        bad_records; /* inconsistent records of whole blocks, or with ids that were not introduced */
    uint64_t unknown_records;                    /* of a later version: skipped */
    uint64_t bytes_of_type[SFB_RECORDING_TYPES]; /* of whole blocks, by type; others: at 0 */
};

/**
 * Opens a recording. One that is still being written can be read up to its present end.
 *
 * @param out    written on SFB_OK; freed by sfb_recording_reader_close()
 * @param path   a file; the reader holds one block in memory, not the file
 * @param error  written on failure: what, and at which offset; NULL: not wanted
 *
 * @return SFB_OK; SFB_BAD_MAGIC: no recording; SFB_BAD_VERSION: a later major version; SFB_TRUNCATED: shorter than the
 *         header; SFB_NO_RESOURCE: no memory, or the file cannot be read: errno says why
 *
 * Threads: one at a time.   Signals: NOT safe.
 */
enum sfb_status sfb_recording_reader_open(struct sfb_recording_reader **out, const char *path,
                                          struct sfb_error *error);

/* The same for bytes in memory; borrowed until the reader is closed. */
enum sfb_status sfb_recording_reader_open_bytes(struct sfb_recording_reader **out,
                                                const void *bytes, size_t size,
                                                struct sfb_error *error);

/**
 * Reads the next event. Damaged bytes are skipped, and counted in health.
 *
 * Each id in an event was introduced by an earlier event; a record with another id counts as damaged.
 *
 * @return SFB_OK; SFB_END: no more events; SFB_NO_RESOURCE
 */
enum sfb_status sfb_recording_reader_next(struct sfb_recording_reader *reader,
                                          struct sfb_recording_event *out);

void sfb_recording_reader_health(const struct sfb_recording_reader *reader,
                                 struct sfb_recording_health *out);
void sfb_recording_reader_close(struct sfb_recording_reader *reader);

/* @return static English text for a number of the enums above, "?" for others */
const char *sfb_recording_engine_str(uint32_t engine);
const char *sfb_recording_loss_str(uint32_t reason);
const char *sfb_recording_state_str(uint32_t state);

SFB_END_DECLS

#endif
