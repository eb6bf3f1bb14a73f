/**
 * sframe-backtrace: captures the call stack of the running process as Compact Backtrace Format
 * (CBF), in the caller's buffer. Stable: the ABI of this header changes with the soname only.
 *
 *     uint8_t buffer[512];
 *     ssize_t size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, NULL);
 *
 *     if (size < 0)
 *         fprintf(stderr, "no backtrace: %s\n", sfb_status_str((enum sfb_status)-size));
 *
 * Signal contract, for every function here but sframe_backtrace_refresh():
 * - It may be called from any thread at any time, in a signal handler too, on its first call too.
 * - It allocates nothing, opens no descriptor, and leaves errno alone.
 * - It takes no lock of its own and none of the loader.
 * - It reads no stack word that it does not know to be readable.
 * - Where libunwind steps, its memory pools take an internal lock with all signals blocked:
 *   SFRAME_BACKTRACE_NO_LIBUNWIND avoids it.
 */
#ifndef SFRAME_BACKTRACE_H
#define SFRAME_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sfb/api.h"
#include "sfb/frame.h"
#include "sfb/status.h"

SFB_BEGIN_DECLS

/* Version of this header, for #if: 10000 * major + 100 * minor + patch. */
#define SFRAME_BACKTRACE_VERSION_MAJOR 0
#define SFRAME_BACKTRACE_VERSION_MINOR 2
#define SFRAME_BACKTRACE_VERSION_PATCH 0
#define SFRAME_BACKTRACE_VERSION                                                                   \
    (10000 * SFRAME_BACKTRACE_VERSION_MAJOR + 100 * SFRAME_BACKTRACE_VERSION_MINOR +               \
     SFRAME_BACKTRACE_VERSION_PATCH)

/**
 * Gives the version of the library that is loaded.
 *
 * @return SFRAME_BACKTRACE_VERSION of the header that the library was built with
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API unsigned sframe_backtrace_version(void);

enum sframe_backtrace_flags {
    /*
     * Never steps with libunwind. Where neither .sframe nor .eh_frame gives a rule, the walk ends,
     * truncated. Then only this library's own code runs.
     */
    SFRAME_BACKTRACE_NO_LIBUNWIND = 0x1,

    /*
     * Trusts nothing from before this walk: asks the kernel once for each page of the stack, the
     * thread's own too, and for each module. For crash handlers. Cost: 0.1 us more for each page
     * and each module. A memo is not used.
     */
    SFRAME_BACKTRACE_DOUBT = 0x4,

    /*
     * Gives asynchronous frames, too, of kind SFB_FRAME_ASYNC and source SFB_SOURCE_ASYNC: C++20
     * coroutines by options.continuation, and Swift's async functions. These are the functions that
     * await the one which the job runner of libswift_Concurrency.so called, out to the task's first.
     * Where the register that should hold its context does not, the stack's frames follow.
     * Not with `resume`; a memo is not used.
     */
    SFRAME_BACKTRACE_ASYNC = 0x8,

    /*
     * With SFRAME_BACKTRACE_ASYNC: begins at options.coroutine, which no thread runs, and not on a
     * stack. All frames are asynchronous; the first one is the place at which it will go on. With
     * options.continuation it is a C++20 coroutine, else Swift's task: the object that a `Task` or
     * an `UnsafeContinuation` of Swift 6.2 is a pointer to. Not with `context`.
     *
     * It must stay suspended during the call. Of one that runs, or has ended, the frames may be
     * wrong; the walk is safe. Where it is no coroutine or task there is no frame, and info.end is
     * SFB_BAD_CONTINUATION.
     */
    SFRAME_BACKTRACE_SUSPENDED = 0x10
};

/*
 * Where a walk stopped: options.resume. All zero before its first call. It holds no pointer, and may
 * be copied.
 */
struct sframe_backtrace_resume {
    uint64_t state[64];
} SFB_MAY_ALIAS;

/*
 * Structs with `size` may grow. A smaller struct comes from an older program: what is missing
 * counts as zero. A larger one comes from a newer program: it is accepted if its unknown members are
 * zero. The _INIT macros set `size`; without it a call returns -SFB_NO_SIZE.
 */
struct sframe_backtrace_options {
    size_t size;         /* sizeof (struct sframe_backtrace_options) */
    const void *context; /* ucontext_t * of a signal handler; NULL: start at the caller */
    uint32_t flags;      /* enum sframe_backtrace_flags */
    uint32_t skip;       /* innermost frames to leave out */
    uint32_t max_frames; /* 0: as many as fit the buffer */
    uint32_t outermost;  /* of max_frames, how many to keep for the outer end; an `omit` stands for
                            the frames between. 0: the outer end is cut off with `trunc` */

    /*
     * Memory that is readable during the call, such as the stack of a coroutine. Used if the walk
     * starts in it. NULL: a stack that is not the thread's own costs a system call for each 4 KiB.
     */
    const void *stack;
    size_t stack_size; /* bytes at stack */

    /*
     * Memo: the walk keeps its frames there, and the next walk compares. The outer part of a stack
     * that did not change then costs 1 ns a frame. Aligned to 8 bytes, all zero before its first
     * use, used by one thread at a time; info.memo_used says whether it was used. NULL: none.
     */
    void *memo;
    size_t memo_size; /* bytes at memo: SFRAME_BACKTRACE_MEMO_SIZE(frames to keep) */

    /*
     * Budget of the walk: stack words passed (8 bytes each), and table rows and CFI instructions
     * read. At its end the walk stops with SFB_WORK_LIMIT. 0: 16,777,216, which is 128 MiB of
     * stack, or about 0.1 s.
     */
    uint32_t max_work;
    uint32_t zero; /* no padding: a newer member may stand here */

    /*
     * Written: a hash of the addresses that sframe_backtrace_addresses() gives. Equal stacks have
     * equal hashes, with and without a memo, for as long as the process lives. Frames that the memo
     * knows cost nothing: it keeps their hashes, in 8 more bytes a frame. Not with
     * sframe_backtrace_cbf(). NULL: not wanted.
     */
    uint64_t *hash;

    /*
     * Each call fills it, and the next one goes on there: a deep stack through a small buffer, of
     * `max_frames` or of the buffer's size. All calls together give the frames of one walk. A call
     * that goes on ignores `context` and `skip`. After the last frame a call gives no frame, and the
     * same info.end again. Not with `outermost`. NULL: each call is a walk of its own.
     *
     * The frames further out than the stop must still be there, and unchanged.
     */
    struct sframe_backtrace_resume *resume;

    /*
     * Reads the stack in place of the library: one word of 8 bytes at an address that is a multiple
     * of 8. For a stack that was copied, or one that is read by a system call. NULL: the walk reads
     * this process's memory.
     *
     * Modules, their tables and their code are this process's, as ever. Without a context the walk
     * starts at the caller. `stack` and `memo` are not used.
     *
     * The walk calls it once or twice a frame, in the thread of the call: in a signal handler it
     * must be safe there.
     *
     * @param user  options.read_user
     * @param word  to be written on true
     *
     * @return false: unreadable; the walk ends there with SFB_UNREADABLE
     */
    bool (*read)(void *user, uint64_t address, uint64_t *word);
    void *read_user; /* handed to read() */

    /*
     * With SFRAME_BACKTRACE_ASYNC, C++20 coroutines: the innermost one that this thread runs, and a
     * function that gives the one which awaits it. Behind the innermost coroutine's own frame the
     * coroutines that await it follow, each with the address of its resume function. They take the
     * place of the stack's other frames, a scheduler's. info.end is SFB_END at the coroutine that
     * none awaits. A circle, or a continuation that is no suspended coroutine, ends the walk:
     * SFB_CONTINUATION_CIRCLE, SFB_BAD_CONTINUATION.
     *
     * The frame is found by the layout that gcc and clang share: a coroutine's first word is the
     * address of its resume function. Where no frame on the stack has a function that starts there,
     * as in the part of a coroutine that runs before it is first suspended (clang), the walk gives
     * the stack's frames, as without `continuation`.
     *
     * sframe_backtrace_addresses() gives such an address plus 1, so that the byte before each
     * address but an interrupted one is the one to look up.
     *
     * continuation() is called once a frame, in the thread of the call: in a signal handler it must
     * be safe there.
     *
     * @param user       options.continuation_user
     * @param coroutine  std::coroutine_handle<>::address(): options.coroutine, or an answer of this
     *                   function whose first word was read and is the start of a function
     *
     * @return address() of the coroutine that awaits it; NULL: none does
     */
    const void *coroutine; /* NULL: the thread runs none. With SFRAME_BACKTRACE_SUSPENDED: where
                              the walk begins */
    const void *(*continuation)(void *user, const void *coroutine);
    void *continuation_user; /* handed to continuation() */
};

#define SFRAME_BACKTRACE_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(struct sframe_backtrace_options), NULL, 0, 0, 0, 0, NULL, 0, NULL, 0, 0, 0, NULL,   \
            NULL, NULL, NULL, NULL, NULL, NULL                                                     \
    }

/* Bytes of a memo that keeps so many frames. Of a deeper stack it keeps the outermost ones. */
#define SFRAME_BACKTRACE_MEMO_BASE         160
#define SFRAME_BACKTRACE_MEMO_SIZE(frames) (SFRAME_BACKTRACE_MEMO_BASE + 48 * (size_t)(frames))

/* The same for walks with options.hash. */
#define SFRAME_BACKTRACE_HASHED_MEMO_SIZE(frames)                                                  \
    (SFRAME_BACKTRACE_MEMO_BASE + 56 * (size_t)(frames))

struct sframe_backtrace_info {
    size_t size;         /* sizeof (struct sframe_backtrace_info), set by the caller */
    uint32_t frames;     /* written, repeats counted */
    uint32_t omitted;    /* frames that the `omit` stands for; 0: there is no `omit` */
    enum sfb_status end; /* SFB_END: the outermost frame was reached; SFB_UNPROVEN_END: apparently
                            reached; else why the walk stopped */
    uint32_t by_source[SFB_SOURCE_ROOM]; /* by enum sfb_source: frames written that it found */

    /*
     * 1: this walk used options.memo. 0: it did not. With a memo that is misaligned or too small,
     * and with SFRAME_BACKTRACE_DOUBT, no walk does. Some walks do not use a valid memo: on an
     * unknown stack, when interrupting a walk with the same memo, and at times after walks that had
     * too little in common.
     */
    uint32_t memo_used;
};

#define SFRAME_BACKTRACE_INFO_INIT                                                                 \
    {                                                                                              \
        sizeof(struct sframe_backtrace_info), 0, 0, SFB_OK, { 0 }, 0                               \
    }

/**
 * Captures the call stack as one complete CBF backtrace with 64-bit words.
 *
 * Without a context the first frame is the caller, an `ra`: the address that this call returns to.
 * With a context it is the interrupted instruction, a `pc`. So is every frame further out that a
 * signal interrupted.
 *
 * A stack that does not fit is no error. What fits is written and ends with `trunc`, or with the
 * outermost frames behind an `omit` if they were asked for. Repeats count one by one towards
 * max_frames; in the buffer a run of equal frames takes a few bytes.
 *
 * The bytes of the buffer behind the backtrace are scratch space.
 *
 * @param buffer   written; any alignment; a frame takes 4 bytes as a rule, 9 at most
 * @param size     bytes at buffer, at least 2. If outermost frames are asked for, up to half of
 *                 them are set aside for these, 9 bytes each.
 * @param options  NULL: all defaults
 * @param info     written unless the result is negative; NULL: not wanted
 *
 * @return bytes written, always a complete CBF. It ends in `end` (the outermost frame was reached)
 *         or in `trunc` (info->end says why). Or a negative sfb_status:
 *         -SFB_BAD_ARGUMENT      buffer is NULL, an unknown flag, outermost above max_frames,
 *                                resume with outermost or SFRAME_BACKTRACE_ASYNC,
 *                                SFRAME_BACKTRACE_SUSPENDED with a context or without a coroutine,
 *                                hash is not NULL, a resume that no call filled, or options that
 *                                are not zero behind what this version knows
 *         -SFB_NO_SIZE           the size of options or info is not set
 *         -SFB_BUFFER_TOO_SMALL  size is below 2
 *         -SFB_NO_RESOURCE       the thread has no thread-local storage yet: an IFUNC resolver of a
 *                                static-pie program
 *         -SFB_STACK_CHANGED     the frame where resume stopped is gone: it has returned, or
 *                                another return address is at its CFA
 *
 * Threads: safe.   Signals: safe, see the top of this file.
 *
 * Cost, time: 20 ns for the call, and for each frame
 *         2 ns            with a memo that has the frame
 *         3 to 6 ns       by a rule in the cache
 *         40 to 80 ns     from .sframe, the first time
 *         150 to 300 ns   from .eh_frame, the first time
 *         2 to 4 us       by libunwind
 *         200 ns more     with resume
 *         15 ns more      with read, and what two calls of it take
 *         15 ns more      with SFRAME_BACKTRACE_ASYNC, and 0.3 us for each asynchronous frame. With
 *                         options.coroutine 0.5 us for each frame up to the coroutine's own
 * Cost, stack:
 *         1 KiB           by a rule in the cache, or from .sframe
 *         2 KiB           from .eh_frame
 *         2.5 KiB         in lazy binding, where a walk starts again
 *         4.5 KiB         by libunwind
 *         0.25 KiB more   for structs of another version
 *         1.75 KiB more   with SFRAME_BACKTRACE_ASYNC, and what continuation() takes
 *
 * Source: CBF specification.
 */
SFB_API ssize_t sframe_backtrace_cbf(void *buffer, size_t size,
                                     const struct sframe_backtrace_options *options,
                                     struct sframe_backtrace_info *info);

/**
 * Captures the call stack as addresses.
 *
 * The first address is the caller's, or the interrupted one. The outer end is cut off if it does
 * not fit.
 *
 * @param buffer   written; room for count addresses
 * @param count    addresses that fit, at least 1: a count of elements, not of bytes
 * @param options  as in sframe_backtrace_cbf(), but outermost must be 0; NULL: all defaults
 * @param info     as in sframe_backtrace_cbf(); end is SFB_FRAME_LIMIT if there are more frames
 *
 * @return addresses written, at least 1 (0: resume has given them all, or options.coroutine is not
 *         suspended), or a negative sfb_status:
 *         -SFB_BAD_ARGUMENT  count is 0, outermost is not 0, or as in sframe_backtrace_cbf()
 *         -SFB_NO_SIZE, -SFB_NO_RESOURCE, -SFB_STACK_CHANGED  as in sframe_backtrace_cbf()
 *
 * Threads, signals: as sframe_backtrace_cbf().   Cost: the same, less 2 ns a frame.
 */
SFB_API ssize_t sframe_backtrace_addresses(void **buffer, size_t count,
                                           const struct sframe_backtrace_options *options,
                                           struct sframe_backtrace_info *info);

/**
 * Captures the call stack as backtrace(3) does, and may be called in a signal handler.
 *
 * The first address is the one that this call returns to. A frame that a signal interrupted is its
 * pc; all others are return addresses.
 *
 * @param buffer  written; room for count addresses
 * @param count   addresses that fit; the outer end is cut off. At most 0: nothing is written.
 *
 * @return addresses written; 0 also where sframe_backtrace_addresses() would fail
 *
 * Threads, signals, cost: as sframe_backtrace_addresses().
 */
SFB_API int sframe_backtrace(void **buffer, int count);

/**
 * Writes the modules of this process as Compact ImageMap: with it, a backtrace can be symbolised
 * after the process is gone. `sfb symbolize` and sfb/image_map.h read it.
 *
 * Images stand by increasing address, each with its path and build-id. One that another thread
 * loads or unloads during the call may be missing.
 *
 * @param buffer    written; any alignment. An image takes 30 to 120 bytes; the last one needs some
 *                  128 bytes more, and room for its path twice.
 * @param size      bytes at buffer
 * @param left_out  written on success: images that did not fit; NULL: not wanted
 *
 * @return bytes written, always a complete map, or a negative sfb_status:
 *         -SFB_BAD_ARGUMENT      buffer is NULL
 *         -SFB_BUFFER_TOO_SMALL  no room for a map without images: 16 bytes do
 *
 * Threads, signals: safe.   Cost: 3 us a module.
 *
 * Source: Compact ImageMap Format, docs/FORMATS.md.
 */
SFB_API ssize_t sframe_backtrace_image_map(void *buffer, size_t size, uint32_t *left_out);

/**
 * Learns all modules that are loaded now.
 *
 * The library does so when it is loaded. Another call, after dlopen(), saves the first capture in
 * each new module about a microsecond. Captures notice modules that were unloaded or replaced
 * without it.
 *
 * Threads: safe.   Signals: NOT safe: it takes the loader's lock.   Cost: microseconds a module.
 */
SFB_API void sframe_backtrace_refresh(void);

SFB_END_DECLS

#endif
