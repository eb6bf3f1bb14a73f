/**
 * Crash handler: when the process dies by a signal, it writes one text report that says where.
 * Stable: the ABI of this header changes with the soname only.
 *
 *     struct sframe_backtrace_crash_options options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;
 *
 *     if (sframe_backtrace_install_crash_handler(&options) != SFB_OK)
 *         fprintf(stderr, "no crash handler\n");
 *
 * The report has the signal, the thread, the registers, the backtrace and the modules with their
 * build-ids. The backtrace stands there as CBF and as lines of module, offset and build-id.
 * docs/FORMATS.md describes the lines. `sfb symbolize` adds functions and source lines, also after
 * the process is gone.
 *
 * Then the previous handler gets the signal, as the kernel would have given it. Without a previous
 * handler the process dies by the same signal, core dump included.
 *
 * What the handler does, beyond the signal contract of <sframe_backtrace.h>:
 * - It writes to the descriptor of the options and opens none. It allocates nothing.
 * - It takes no lock of the loader or of libc. errno is kept.
 * - It calls the kernel directly: write, fstat, rt_sigaction, rt_sigprocmask, rt_tgsigqueueinfo,
 *   tgkill, prctl, getpid, gettid, nanosleep; exit_group where all else fails; ppoll and
 *   rt_sigtimedwait for pipes, sockets and terminals.
 *
 * Faults and loops:
 * - A fault inside the handler is stepped over: a line says so, and the report goes on with its
 *   next part. (Causes: damaged tables of the loader, or a library's file that was cut short.)
 *   After 12 faults the process ends, by the default action of the signal.
 * - A previous handler that crashes is called again while the alternate stack has room. Then the
 *   process ends. A previous handler that jumps out is called for ever. Where the thread's own
 *   stack lies right below the alternate stack, the two look alike: 65,536 calls in a row.
 * - A filter of system calls may refuse any of them, with an error or a signal. The process still
 *   ends: by exit status 128 + signal or an illegal instruction if nothing better is left.
 *
 * Several threads, several crashes:
 * - The first thread that crashes reports. The others wait up to 10 seconds, then report if the
 *   process still runs; after 10 seconds they die without a report.
 * - A process writes at most 16 reports of crashes that a previous handler takes, then a line that
 *   says so. A crash of the same thread, signal and place as the one before gets no second report.
 * - The crash that ends the process by a signal's default action always gets a report. After 16
 *   reports, a crash whose previous handler calls _exit() gets no report.
 * - A signal that another thread or process sends during a report comes after it.
 *
 * What the report knows:
 * - It lists the modules that the library knows: from load time, from sframe_backtrace_refresh(),
 *   from earlier walks, and from the frames of this one.
 * - The report goes to the file that was open at installation. If the descriptor leads to another
 *   file by now (device and inode are compared), no report is written.
 */
#ifndef SFRAME_BACKTRACE_CRASH_H
#define SFRAME_BACKTRACE_CRASH_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/api.h"
#include "sfb/status.h"

SFB_BEGIN_DECLS

/* Limits of max_frames, and of outermost. */
#define SFRAME_BACKTRACE_CRASH_FRAMES_MAX    1024
#define SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX 512

/* It may grow: see struct sframe_backtrace_options in <sframe_backtrace.h>. */
struct sframe_backtrace_crash_options {
    size_t size; /* sizeof (struct sframe_backtrace_crash_options) */

    /*
     * Descriptor for the report: open for writing, and open on the same file until the handler is
     * uninstalled. The handler waits for a pipe, socket or terminal that blocks: 5 seconds in all,
     * then 0.2 seconds for each further report. (If another writer fills a pipe between the check
     * for room and the write, the handler waits for the reader.)
     */
    int fd;

    uint32_t flags; /* enum sframe_backtrace_flags: _NO_LIBUNWIND, and _ASYNC (Swift's functions) */
    uint32_t signals;    /* a sum of 1u << SIGSEGV and so on; 0: SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                            SIGABRT, SIGTRAP and SIGSYS. Other signals are refused. */
    uint32_t max_frames; /* of the backtrace; 0: 256 */
    uint32_t outermost;  /* of max_frames, how many to keep for the outer end: a stack that
                            overflowed is shown from both ends. 0: a quarter of max_frames */
    uint32_t zero;       /* no padding: a newer member may stand here */
};

/* All defaults, and standard error. */
#define SFRAME_BACKTRACE_CRASH_OPTIONS_INIT                                                        \
    {                                                                                              \
        sizeof(struct sframe_backtrace_crash_options), 2, 0, 0, 0, 0, 0                            \
    }

/**
 * Installs the handler. Gives the calling thread an alternate stack if its own is missing or too
 * small: see sframe_backtrace_crash_stack().
 *
 * The handler is installed once. To change an option, uninstall it first. Handlers that are
 * installed later come before it, and have to call the previous one, as this one does.
 *
 * A previous handler runs on the stack of this one, with the same three arguments and with its own
 * signal mask, and once only if it has SA_RESETHAND. It may return, jump out or end the process.
 * With SIG_DFL before, the default is restored: a fault comes again by itself, any other signal is
 * raised anew with the same siginfo_t. So the process dies where it was interrupted, and a debugger
 * finds that in the core dump. With SIG_IGN before, a signal sent by a process is ignored; a fault
 * cannot be ignored, and is a crash.
 *
 * @param options  copied; NULL: all defaults, and standard error
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  installed already, or options are wrong: an unknown flag or signal, a
 *                           descriptor that is not open, max_frames or outermost above its limit,
 *                           outermost above max_frames, unknown members that are not zero
 *         SFB_NO_SIZE       the size of options is not set
 *         SFB_NO_RESOURCE   the kernel gave no memory for the alternate stack, or refused it
 *         On all but SFB_OK nothing is installed.
 *
 * Threads: safe; one of several wins.   Signals: NOT safe.
 * Cost: 30 system calls. A report takes 0.1 to 0.4 ms, and less than 5 ms with 500
 * modules and 1,024 frames.
 */
SFB_API enum sfb_status sframe_backtrace_install_crash_handler(
    const struct sframe_backtrace_crash_options *options);

/**
 * Uninstalls the handler: restores the previous handler of each signal that still has this one.
 * Takes back the alternate stack if the calling thread is the one that installed it.
 *
 * A handler that was installed later stays. It still calls this one, which then only passes the
 * signal on: the library must not be unloaded in that case. Other threads keep their alternate
 * stacks.
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  it is not installed
 *         SFB_NO_RESOURCE   at least one signal has a later handler, as above
 *
 * Threads: safe, but not while a thread crashes.   Signals: NOT safe.
 * Cost: 2 system calls for each signal, and 4.
 */
SFB_API enum sfb_status sframe_backtrace_uninstall_crash_handler(void);

/**
 * Gives the calling thread an alternate stack that is large enough for the handler.
 *
 * Each thread has its own alternate stack. A thread needs this call, before anything else, to have
 * its stack overflow reported. Other crashes are reported without it, on the thread's own stack. A
 * thread with an alternate stack that is large enough keeps it.
 *
 * The library's own alternate stacks have 64 KiB, twice the kernel's signal frame, and a guard page
 * below. The second frame is for a fault inside the handler; the rest is for a previous handler.
 * docs/evidence/PLATFORMS.md has the sizes of signal frames.
 *
 * @param memory  the caller's, any alignment, without a guard page; borrowed until
 *                sframe_backtrace_release_crash_stack(). NULL: the library maps memory, and that
 *                call unmaps it; a thread that ends without that call leaks it.
 * @param size    bytes at memory, at least sframe_backtrace_crash_stack_size(); ignored for NULL
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  size is too small
 *         SFB_NO_RESOURCE   no memory, or the thread runs on its alternate stack now
 *
 * Threads: safe.   Signals: NOT safe.   Cost: 4 system calls.
 */
SFB_API enum sfb_status sframe_backtrace_crash_stack(void *memory, size_t size);

/**
 * Takes back the alternate stack that sframe_backtrace_crash_stack() gave the calling thread, and
 * restores the one before it. Memory that the library mapped is unmapped. Call it before a thread
 * ends.
 *
 * Does nothing if the thread's alternate stack was set by other code, or is in use.
 *
 * Threads: safe.   Signals: NOT safe.   Cost: 3 system calls.
 */
SFB_API void sframe_backtrace_release_crash_stack(void);

/**
 * Gives the least size of memory for sframe_backtrace_crash_stack(): 16 KiB and two signal frames.
 * A previous handler may need more.
 *
 * @return bytes
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API size_t sframe_backtrace_crash_stack_size(void);

SFB_END_DECLS

#endif
