/**
 * Recording: the process records its own CPU profile, without `sfb record` (in libsfb-agent-cpu.so), or keeps track of
 * its live blocks (in libsfb-agent-heap.so, at the end of this file). Stable: members are added, never changed.
 *
 *     struct sframe_backtrace_record_options options = SFRAME_BACKTRACE_RECORD_OPTIONS_INIT;
 *
 *     options.fd = 3; // ./program 3>profile.sfbr, or what open() gives
 *     if (sframe_backtrace_record_start(&options) != SFB_OK)
 *         fprintf(stderr, "no recording\n");
 *     // work
 *     sframe_backtrace_record_stop();
 *
 * `sfb report profile.sfbr` reads the file. The blocks in it are not packed.
 *
 * While it records:
 * - Each thread is sampled by a CPU-time timer, or by a sampler thread where the system gives no timer. The program may
 *   use SIGPROF: it gets its own signals.
 * - A thread of the library, with all signals blocked, writes what was sampled to the file. Nothing else writes there.
 * - Children of fork() are recorded in the same file, for as long as this process lives and records. Programs that are
 *   executed are not.
 * - At exit() and at return from main() the recording is stopped. _exit() and a crash lose the last second.
 *
 * Under `sfb record` the recorder writes the recording, and starting and stopping refuse. Marks go into either.
 *
 * `sfb ctl PID status`, `mark NAME`, `stop` and `start` work of such a process as of one that `sfb record` records, for its user
 * and root: the thread of the library answers, with descriptors that are in no table of the program. That takes Linux 5.9.
 */
#ifndef SFRAME_BACKTRACE_RECORD_H
#define SFRAME_BACKTRACE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/api.h"
#include "sfb/status.h"

SFB_BEGIN_DECLS

/* It may grow: see struct sframe_backtrace_options in <sframe_backtrace.h>. */
struct sframe_backtrace_record_options {
    size_t size; /* sizeof (struct sframe_backtrace_record_options) */

    /* Descriptor of an empty file that is open for writing; borrowed until the recording is stopped. */
    int fd;

    uint32_t
        rate_hz; /* samples a second of CPU time, at most 20,000; 0: 997. The kernel's tick is a limit, too. */
    uint64_t max_size; /* bytes of the file; 0: no limit */
};

#define SFRAME_BACKTRACE_RECORD_OPTIONS_INIT                                                       \
    {                                                                                              \
        sizeof(struct sframe_backtrace_record_options), -1, 0, 0                                   \
    }

/**
 * Starts to record this process: all its threads, present and future.
 *
 * @param options  copied
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  it is being recorded already, or options are NULL or wrong: a negative descriptor, a rate
 *                           above the limit, unknown members that are not zero
 *         SFB_NO_SIZE       the size of options is not set
 *         SFB_NO_RESOURCE   memory, a thread, or the file cannot be written: errno says why
 *
 * Threads: safe; one of several wins.   Signals: NOT safe.
 * Cost: a millisecond, and 192 MiB of address space for each start, of which 60 KiB a thread become memory.
 */
enum sfb_status sframe_backtrace_record_start(
    const struct sframe_backtrace_record_options *options);

/**
 * Stops the recording, and writes its end. The descriptor is the caller's again.
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  this process has not started a recording
 *         SFB_NO_RESOURCE   something could not be written: the disk is full, or max_size was reached
 *
 * Threads: safe.   Signals: NOT safe.   Cost: up to 10 ms.
 */
enum sfb_status sframe_backtrace_record_stop(void);

/* Most bytes of a mark's name. */
#define SFRAME_BACKTRACE_RECORD_MARK_MAX 64

/*
 * A program that links no agent has the function under `sfb record` alone, by the agent that is loaded into it. So the reference is
 * weak, and the program is built without any library of this project:
 *
 *     if (sframe_backtrace_record_mark)
 *         sframe_backtrace_record_mark("order sent");
 *
 * That takes position-independent code (-fPIE, -fPIC: the default of most compilers). Elsewhere it is not there.
 */
#ifndef SFRAME_BACKTRACE_RECORD_MARK_DEFINED
#define SFRAME_BACKTRACE_RECORD_WEAK __attribute__((weak))
#else
#define SFRAME_BACKTRACE_RECORD_WEAK
#endif

/**
 * Names this moment in the recording: of `sfb record`, by CPU time or of the heap, or of this process's own. It stands in reports, and
 * `sfb report --time mark:A..mark:B` shows what was between two. While the recording is paused it is kept, too.
 *
 * Without a recorder nothing happens. `sfb record --wall` and `--pid` record from outside, without an agent: there the function is
 * not there, and `sfb ctl PID mark NAME` sets marks.
 *
 * @param name  1 to SFRAME_BACKTRACE_RECORD_MARK_MAX bytes, any; copied. Names may come again: --time takes the first
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  nothing is recorded, or no such name
 *         SFB_NO_RESOURCE   16 marks wait for the recorder, which takes them every 10 ms
 *
 * Threads: safe.   Signals: safe; no locks, heap, or errno.   Cost: a microsecond: the clock, and one system call.
 */
enum sfb_status sframe_backtrace_record_mark(const char *name) SFRAME_BACKTRACE_RECORD_WEAK;

/* --- the live table of the heap: libsfb-agent-heap.so ------------------------------------------ */

/*
 * A program tracks its own live blocks in production: the stack that allocated each block, in 20 bytes a block, 4 of
 * them at the block's end if it is smaller than 4 KiB. A program linked with libsfb-agent-heap.so starts it here; with
 * the library preloaded, the environment does: SFB_HEAP_LIVE=64M. profiler/docs/HEAP.md, "In production".
 *
 *     sframe_backtrace_heap_start(NULL);
 *     // work
 *     sframe_backtrace_heap_dump(STDERR_FILENO, 0); // and `sfb report LOG`
 *
 * `sfb ctl PID dump` shows it from outside, also after the process was killed.
 */

enum sframe_backtrace_heap_flags {
    SFRAME_BACKTRACE_HEAP_NO_FILE = 0x1, /* private memory: `sfb ctl` does not see it */
    SFRAME_BACKTRACE_HEAP_NO_CHILDREN =
        0x2, /* children of fork() get no table; else one of their own */
    SFRAME_BACKTRACE_HEAP_CHECK_TAILS = 0x4 /* dumps look for overwritten tails: 0.2 us a block */
};

/* It may grow: see struct sframe_backtrace_options in <sframe_backtrace.h>. */
struct sframe_backtrace_heap_options {
    size_t size; /* sizeof (struct sframe_backtrace_heap_options) */
    uint64_t
        live; /* limit of the table in bytes, 2 MiB to 4 GiB; 0: 64 MiB. Beyond it blocks are sampled. */
    uint32_t flags;  /* enum sframe_backtrace_heap_flags; CHECK_TAILS is for dumps by signal */
    int dump_signal; /* a dump is written when it arrives; 0: no signal */
    int dump_fd;     /* where to: a descriptor that stays open; STDERR_FILENO by INIT */
    uint32_t
        freed; /* so many of the last freed blocks are remembered, with the stacks that allocated and freed them, for
                        sframe_backtrace_heap_find(): at most 2^20, and an eighth of the table; 0: none */
};

#define SFRAME_BACKTRACE_HEAP_OPTIONS_INIT                                                         \
    {                                                                                              \
        sizeof(struct sframe_backtrace_heap_options), 0, 0, 0, 2, 0                                \
    }

/**
 * Starts to track blocks that are allocated from now on.
 *
 * @param options  copied; NULL: all defaults
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  tracking is on already, `sfb record` records the heap, or options are wrong
 *         SFB_NO_SIZE       the size of options is not set
 *         SFB_NO_RESOURCE   no memory, or the signal has a handler: errno says why. If no file can be made, the table is
 *                           in private memory: sframe_backtrace_heap_file() is "".
 *
 * Threads: safe; one of several wins.   Signals: NOT safe.   Cost: a millisecond, and 2 MiB.
 */
enum sfb_status sframe_backtrace_heap_start(const struct sframe_backtrace_heap_options *options);

/**
 * Stops tracking, and frees its memory.
 *
 * @return SFB_OK; SFB_BAD_ARGUMENT: tracking is not on
 *
 * Threads: safe.   Signals: NOT safe.
 */
enum sfb_status sframe_backtrace_heap_stop(void);

/**
 * Writes the live blocks by stack, as lines of text: docs/FORMATS.md, "Log lines". `sfb report` names the stacks. Other
 * threads go on.
 *
 * @param fd     a file, a pipe, a terminal. If it takes nothing, the call waits a second for it.
 * @param flags  SFRAME_BACKTRACE_HEAP_CHECK_TAILS or 0
 *
 * @return SFB_OK; SFB_BAD_ARGUMENT: tracking is not on, or as above; SFB_NO_RESOURCE: another dump is being written, no
 *         memory, or the dump cannot be written: errno says why
 *
 * Threads: safe.   Signals: safe; errno changes. It maps memory and gives it back.
 * Cost: milliseconds for each 100,000 blocks, and for each 1,000 stacks.
 */
enum sfb_status sframe_backtrace_heap_dump(int fd, uint32_t flags);

/**
 * Gives the path of the table's file.
 *
 * @return borrowed; "": the table is in private memory, or tracking is not on
 *
 * Threads: safe.   Signals: safe.
 */
const char *sframe_backtrace_heap_file(void);

enum sframe_backtrace_heap_state {
    SFRAME_BACKTRACE_HEAP_BLOCK_LIVE = 1,
    SFRAME_BACKTRACE_HEAP_BLOCK_OVERRUN = 2, /* live, and written past its end */
    SFRAME_BACKTRACE_HEAP_BLOCK_FREED = 3    /* its memory may be another block's since then */
};

/* A block, and the stack that allocated it. Members are added at the end; `size` says which are there. */
struct sframe_backtrace_heap_block {
    size_t size;
    uint64_t address; /* of the block */
    uint64_t bytes;   /* that the program asked for */
    uint32_t state;   /* enum sframe_backtrace_heap_state */
    uint32_t cbf_size;
    const uint8_t *cbf;       /* borrowed during the call; NULL: the stack is unknown */
    const uint8_t *freed_cbf; /* FREED: the stack that freed it; borrowed; NULL: unknown */
    uint32_t freed_cbf_size;
    uint32_t zero;
};

/* Addresses of one call: more are ignored. */
#define SFRAME_BACKTRACE_HEAP_FIND_MAX 64

/**
 * Finds the live blocks that addresses point into, the tails of the blocks included, and the blocks there that were freed
 * last, as far as they are remembered.
 *
 * The crash handler calls it for the registers of a crash, if the agent is in the process.
 *
 * @param addresses  any values, such as registers
 * @param count      of them
 * @param visit      called for each address that is in a block, in their order; index: in addresses. Of one that is in a
 *                   live block and in a freed one, twice
 * @param user       for visit
 *
 * @return SFB_OK; SFB_BAD_ARGUMENT: tracking is not on; SFB_NO_RESOURCE: another thread is in this call, or a later call of
 *         this thread has interrupted it, such as the crash handler's. A call that a fault ended is no hindrance
 *
 * Threads: safe.   Signals: safe; errno stays. It reads the table and the tails of blocks, as they are: in a damaged
 * process it may fault.
 * Cost: one pass over the table, a millisecond for each 100,000 blocks.
 */
enum sfb_status sframe_backtrace_heap_find(
    const uint64_t *addresses, size_t count,
    void (*visit)(void *user, size_t index, const struct sframe_backtrace_heap_block *block),
    void *user);

SFB_END_DECLS

#endif
