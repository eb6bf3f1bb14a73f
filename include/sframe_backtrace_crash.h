/**
 * A crash handler, ready to use: when the process dies by a signal, one text report says where.
 *
 *     struct sframe_backtrace_crash_options options = { .size = sizeof options, .fd = 2 };
 *     sframe_backtrace_install_crash_handler(&options);
 *
 * The report has the signal, the thread, the registers, the backtrace (as CBF, and as lines of
 * module + offset + build-id), and the modules with their addresses and build-ids; docs/FORMATS.md
 * describes its lines, and `sfb symbolize` names functions and source lines from it, after the
 * process is gone, too. Then the handler that was there before gets the signal, as the kernel would
 * have given it; where there was none, the process dies by the very signal, core dump included.
 *
 * What the handler does, beyond the signal contract of <sframe_backtrace.h>: it writes to the
 * descriptor given beforehand and opens none, allocates nothing, takes no lock of the loader or of
 * libc, and calls the kernel directly: write, fstat, rt_sigaction, rt_sigprocmask,
 * rt_tgsigqueueinfo, tgkill, prctl, getpid, gettid, nanosleep, exit_group where all else fails, and
 * for pipes, sockets and terminals ppoll and rt_sigtimedwait. errno is kept.
 *
 * - It never loops. A fault inside of it, such as one of the loader's tables or of a library's file
 *   that was cut short, is stepped over with a line that says so, and the report goes on with its
 *   next part. After 12 of them the process ends, by the default action of the signal.
 * - A previous handler that crashes itself, and is called for that again, is called as long as
 *   there is room for it on the alternate stack; then the process ends. One that jumps out is
 *   called for ever. (Where the thread's own stack lies right below the alternate one, the two look
 *   alike: 65,536 times in a row.)
 * - A filter of system calls may refuse each of them, with an error or a signal. The process ends
 *   all the same, by an exit of 128 + signal or an illegal instruction if nothing better is left.
 * - If several threads crash, the first writes its report and the others wait for it, then report
 *   themselves if the process is still there. After 10 seconds they do not wait any longer, and
 *   die without one.
 * - The modules are those that the library knows: all that were there when it was loaded or at
 *   sframe_backtrace_refresh(), all that a walk has come to, and those of the frames.
 * - A previous handler may recover: a process writes 16 reports at most of crashes that one takes,
 *   then a line that says so, and none twice in a row for the same thread, signal and place. The
 *   crash that ends the process has a report nevertheless, if it ends by the default action of one
 *   of the signals. (After 16, one that ends because its previous handler calls _exit() has none.)
 * - A signal that somebody sends while a thread reports, from this process or another, comes after
 *   the report.
 * - The report goes to the file that was given. If the descriptor leads to another one by now
 *   (device and inode are compared), nothing is written, there or anywhere else.
 */
#ifndef SFRAME_BACKTRACE_CRASH_H
#define SFRAME_BACKTRACE_CRASH_H

#include <stddef.h>
#include <stdint.h>

#include "sfb/api.h"
#include "sfb/status.h"

SFB_BEGIN_DECLS

/* Room for max_frames, and for those of them that are outermost. */
#define SFRAME_BACKTRACE_CRASH_FRAMES_MAX    1024
#define SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX 512

struct sframe_backtrace_crash_options {
    size_t size; /* sizeof (struct sframe_backtrace_crash_options): lets the struct grow */

    /*
     * Where the report goes: a descriptor that is open for writing, and stays open for the very
     * same file. One that blocks is waited for: 5 seconds in all if it is a pipe, a socket or a
     * terminal, and 0.2 for each further report if that was not enough. (Where others fill a pipe
     * between the question for room and the write, the handler waits for its reader.)
     */
    int fd;

    uint32_t flags;      /* enum sframe_backtrace_flags */
    uint32_t signals;    /* which, as a sum of 1u << SIGSEGV and so on; 0: SIGSEGV, SIGBUS, SIGILL,
                            SIGFPE, SIGABRT, SIGTRAP and SIGSYS; no others are possible */
    uint32_t max_frames; /* of the backtrace; 0: 256 */
    uint32_t outermost;  /* of max_frames, how many to keep for the outer end, so that a stack that
                            overflowed is shown from both ends; 0: a quarter of max_frames */
    uint32_t zero;       /* no padding: a larger struct has to be zero behind what is known */
};

/**
 * Installs the handler, and gives the calling thread an alternate stack to run it on, if it has
 * none or one that is too small: see sframe_backtrace_crash_stack().
 *
 * The handler is installed once; to change an option, uninstall it first. Handlers that are
 * installed later stand before it, and have to call what was there before them, as this one does.
 *
 * A previous handler runs on the stack of this one, with the three arguments that it would have
 * had, with the signals blocked that it asked for, and once only if it did (SA_RESETHAND). It may
 * return, jump out or end the process. Where there was SIG_DFL, the default is restored: a fault
 * comes again by itself, any other signal is raised anew with the same siginfo_t, so that the
 * process dies where it was interrupted. That is what a debugger finds in the core dump. Where
 * there was SIG_IGN, a signal that somebody sends is ignored; a fault cannot be, and is a crash.
 *
 * @param options  copied; NULL: all defaults, and standard error
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  installed already; the struct is smaller than it is here, or larger and
 *                           not zero behind what is known here; an unknown flag or signal; fd is
 *                           not open; max_frames or outermost is above its limit, or outermost
 *                           above max_frames
 *         SFB_NO_RESOURCE   the kernel gave no memory for the alternate stack, or refused it
 *         Nothing is installed then.
 *
 * Threads: safe; one of several wins.   Signals: NOT safe.   Cost: 30 system calls.
 * A report takes 0.1 to 0.4 ms; with 500 modules and 1,024 frames less than 5 ms.
 */
SFB_API enum sfb_status sframe_backtrace_install_crash_handler(
    const struct sframe_backtrace_crash_options *options);

/**
 * Restores what was there before for each signal whose handler is still this one, and takes the
 * alternate stack that it gave from the calling thread, if this is the one that installed it.
 *
 * Where another handler was installed since, that one stays, and calls this one, which from now on
 * only passes the signal on: the library must not be unloaded then. Other threads keep their
 * alternate stacks.
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  it is not installed
 *         SFB_NO_RESOURCE   at least one signal has another handler now, as above
 *
 * Threads: safe, but for threads that crash at the same time.   Signals: NOT safe.
 */
SFB_API enum sfb_status sframe_backtrace_uninstall_crash_handler(void);

/**
 * Gives the calling thread an alternate stack for signal handlers.
 *
 * Alternate stacks belong to threads: each one that is to be reported after a stack overflow has to
 * call this, as the first thing that it does. Other crashes are reported without it, on the stack
 * of the thread itself. A thread that has one which is large enough keeps it.
 *
 * The library's own ones have 64 KiB and what the kernel needs for a signal's frame, twice, and a
 * guard page below. That frame depends on the processor (AT_MINSIGSTKSZ: 11,952 bytes on one with
 * AVX-512 and AMX, less without), and on what of it the thread has used. A report took 7 KiB there,
 * in a thread that does not use AMX, and 11 on AArch64 in qemu, the kernel's frame included. A
 * second frame has to fit for a fault inside of the handler; the rest is for a previous handler.
 *
 * @param memory  the caller's own memory, of any alignment, in use until
 *                sframe_backtrace_release_crash_stack(), without a guard page; NULL: the library
 *                maps some, and unmaps it there. Threads that end without that call lose it.
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
 * Takes the alternate stack from the calling thread that sframe_backtrace_crash_stack() gave it,
 * restores the one before, and unmaps it if the library mapped it. To be called before a thread
 * ends. Does nothing where the thread's alternate stack is somebody else's, or in use.
 *
 * Threads: safe.   Signals: NOT safe.   Cost: 3 system calls.
 */
SFB_API void sframe_backtrace_release_crash_stack(void);

/**
 * @return the least size of memory for sframe_backtrace_crash_stack(), in bytes: 16 KiB and two
 *         frames of a signal. More is needed for previous handlers that need more.
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API size_t sframe_backtrace_crash_stack_size(void);

SFB_END_DECLS

#endif
