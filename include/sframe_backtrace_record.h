/**
 * Recording: the process records its own CPU profile, without `sfb record`. In libsfb-agent-cpu.so. Stable: members are
 * added, never changed.
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
 * Under `sfb record` the recorder writes the recording, and these functions refuse.
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
 * Starts to record this process: all threads that there are, and those that will be.
 *
 * @param options  copied
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  it is being recorded, or options are NULL or wrong: a negative descriptor, a rate
 *                           above the limit, or not zero behind what this version knows
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
 *         SFB_BAD_ARGUMENT  this process has started none
 *         SFB_NO_RESOURCE   something could not be written: the disk is full, or max_size was reached
 *
 * Threads: safe.   Signals: NOT safe.   Cost: up to 10 ms.
 */
enum sfb_status sframe_backtrace_record_stop(void);

SFB_END_DECLS

#endif
