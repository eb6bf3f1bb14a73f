/**
 * sframe-backtrace: the call stack of the running process, from anywhere, as Compact Backtrace
 * Format in the caller's buffer.
 *
 *     uint8_t buffer[512];
 *     ssize_t size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, NULL);
 *
 * The signal contract, for every function here but sframe_backtrace_refresh(): it may be called
 * from any thread at any time, in a signal handler too, on its first call too. It allocates
 * nothing, takes no lock of its own or of the loader, opens no descriptor, leaves errno alone, and
 * reads no stack word that it does not know to be readable. Where libunwind has to step (see
 * SFRAME_BACKTRACE_NO_LIBUNWIND) its memory pools take an internal lock with all signals blocked.
 */
#ifndef SFRAME_BACKTRACE_H
#define SFRAME_BACKTRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sfb/api.h"
#include "sfb/frame.h"
#include "sfb/status.h"

SFB_BEGIN_DECLS

enum sframe_backtrace_flags {
    /*
     * Do not let libunwind step where neither .sframe nor .eh_frame gives a rule that can be
     * followed: the walk ends there, truncated. Then nothing but this library's own code runs.
     */
    SFRAME_BACKTRACE_NO_LIBUNWIND = 0x1,

    /*
     * Believe nothing that the kernel has not said during this walk: it is asked once of each page
     * of the stack, also of the thread's own, and of each module, also of those that stay. For
     * crash handlers: about 0.1 us more for each page and each module. A memo is not used.
     */
    SFRAME_BACKTRACE_DOUBT = 0x4
};

struct sframe_backtrace_options {
    size_t size;         /* sizeof (struct sframe_backtrace_options): lets the struct grow */
    const void *context; /* ucontext_t * of a signal handler; NULL: the caller of the function */
    uint32_t flags;      /* enum sframe_backtrace_flags */
    uint32_t skip;       /* innermost frames to leave out */
    uint32_t max_frames; /* 0: as many as fit the buffer */
    uint32_t outermost;  /* of max_frames, how many to keep for the outer end; what lies between
                            becomes one `omit`. 0: the outer end is cut off with `trunc` */

    /*
     * Memory that the caller knows to be readable during the call, such as the stack of a coroutine
     * (threads' own stacks are known). It counts where the walk begins in it. NULL: what is not
     * known costs a system call for each 4 KiB.
     */
    const void *stack;
    size_t stack_size;

    /*
     * Memory in which the walk leaves what it saw, for the next one to compare: the outer part of a
     * stack that is what it was then costs a nanosecond a frame. Lent by the caller, aligned to 8
     * bytes, all zero before its first use, and used by one thread at a time. 48 bytes a frame, and
     * SFRAME_BACKTRACE_MEMO_BASE; the outermost frames of stacks that are deeper. NULL: none.
     */
    void *memo;
    size_t memo_size;

    /*
     * The budget of a walk: words of the stack passed (8 bytes each), and rows and CFI instructions
     * read. When it is used up the walk ends with SFB_WORK_LIMIT. 0: 16,777,216, which are 128 MiB
     * of stack, or about 0.1 s. A handler that has less time asks for less.
     */
    uint32_t max_work;
    uint32_t zero; /* no padding: a larger struct has to be zero behind what is known */
};

#define SFRAME_BACKTRACE_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(struct sframe_backtrace_options), NULL, 0, 0, 0, 0, NULL, 0, NULL, 0, 0, 0          \
    }

#define SFRAME_BACKTRACE_MEMO_BASE         160
#define SFRAME_BACKTRACE_MEMO_SIZE(frames) (SFRAME_BACKTRACE_MEMO_BASE + 48 * (size_t)(frames))

struct sframe_backtrace_info {
    size_t size;         /* sizeof (struct sframe_backtrace_info), set by the caller */
    uint32_t frames;     /* written, repeats counted */
    uint32_t omitted;    /* what the `omit` says, 0 if there is none */
    enum sfb_status end; /* SFB_END, or why the walk stopped */
    uint32_t by_source[SFB_SOURCE_ROOM]; /* of the frames written, how many each source found */
    uint32_t memo_used;                  /* 1: this walk used options.memo */
};

#define SFRAME_BACKTRACE_INFO_INIT                                                                 \
    {                                                                                              \
        sizeof(struct sframe_backtrace_info), 0, 0, SFB_OK, { 0 }, 0                               \
    }

/**
 * Captures the call stack into a buffer, as one complete CBF backtrace with 64-bit words.
 *
 * Without a context the first frame is the caller, an `ra`: the address that this call returns to.
 * With one it is the interrupted instruction, a `pc`, as is every frame that a signal interrupted
 * further out. A stack that does not fit is no error: what fits is written and ended with `trunc`,
 * or with the outermost frames behind an `omit` if they were asked for. Repeats count one by one
 * towards max_frames, but a buffer holds as many as its bytes allow: deep self-recursion costs a
 * few bytes. The bytes of the buffer behind the backtrace are used as scratch space.
 *
 * @param buffer   any alignment; a typical frame takes 4 bytes, none more than 9
 * @param size     bytes at buffer, at least 2; where outermost frames are asked for, up to half of
 *                 it is set aside for them, 9 bytes each
 * @param options  NULL: all defaults
 * @param info     what was found; written unless the result is negative; NULL: not wanted
 *
 * @return bytes written, always a complete CBF that ends in `end` (the outermost frame was reached)
 *         or `trunc` (info->end says why), or a negative sfb_status:
 *         -SFB_BAD_ARGUMENT      buffer is NULL; a struct is smaller than it is here, or options
 * are larger and not zero behind what is known here; an unknown flag; outermost above max_frames
 *         -SFB_BUFFER_TOO_SMALL  size is below 2
 *         -SFB_NO_RESOURCE       the thread has no thread-local storage yet: an IFUNC resolver of a
 *                                static-pie program
 *
 * Threads: safe.   Signals: safe, see the top of this file.
 * Cost: 20 ns, and 3 to 6 ns a frame whose rule is remembered, 2 ns with a memo that knows it; the
 * first time 40 to 80 ns a frame from .sframe, 150 to 300 ns from .eh_frame; 2 to 4 us where
 * libunwind steps. 1 KiB of stack, 2 KiB where .eh_frame is interpreted, 2.5 KiB where a walk
 * starts again in the midst of lazy binding, 4.5 KiB where libunwind steps.
 */
SFB_API ssize_t sframe_backtrace_cbf(void *buffer, size_t size,
                                     const struct sframe_backtrace_options *options,
                                     struct sframe_backtrace_info *info);

/**
 * Captures the call stack as addresses, with the same options.
 *
 * @param buffer   room for size addresses; the first is the caller's or the interrupted one
 * @param size     addresses that fit, at least 1; the outer end is cut off
 * @param options  as in sframe_backtrace_cbf(); outermost must be 0; NULL: all defaults
 * @param end      why the walk ended: SFB_END (at the outermost frame), SFB_FRAME_LIMIT (there are
 *                 more), or what stopped it; NULL: not wanted
 *
 * @return addresses written, at least 1, or -SFB_BAD_ARGUMENT, -SFB_NO_RESOURCE (as above)
 *
 * Threads, signals: as sframe_backtrace_cbf().   Cost: the same, less 2 ns a frame.
 */
SFB_API ssize_t sframe_backtrace_addresses(void **buffer, size_t count,
                                           const struct sframe_backtrace_options *options,
                                           struct sframe_backtrace_info *info);

/**
 * Captures the call stack as addresses: a drop-in for backtrace(3) that may be called in a signal
 * handler.
 *
 * The first address is the one that this call returns to. Frames that a signal interrupted are
 * their pc, all others return addresses, as backtrace() gives them.
 *
 * @param buffer  room for size addresses
 * @param size    addresses that fit, the outer end is cut off; at most 0: nothing is written
 *
 * @return addresses written
 *
 * Threads, signals, cost: as sframe_backtrace_cbf().
 */
SFB_API int sframe_backtrace(void **buffer, int size);

/**
 * Looks at all loaded modules now, so that the next captures need not.
 *
 * It is called when the library is loaded; calling it again after dlopen() only saves the first
 * capture in each new module about a microsecond. Modules that were unloaded or replaced are
 * noticed without it.
 *
 * Threads: safe.   Signals: NOT safe: it takes the loader's lock.   Cost: microseconds a module.
 */
SFB_API void sframe_backtrace_refresh(void);

SFB_END_DECLS

#endif
