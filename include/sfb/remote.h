/* Unstable: may change in any release. Its functions are in libsfb-remote.a only. */
/**
 * Another process, or its core: its threads, and their stacks.
 *
 * A thread that sleeps is not stopped: /proc has its sp and pc, and its stack is copied twice over until
 * nothing has changed. Its fp is not known; where a walk needs it and no frame further in has saved it,
 * the thread is stopped as a running one is, by ptrace: registers and stack are copied, and it goes on.
 * Walks come after that. A stop costs the process no system call: profiler/docs/OUTSIDE.md.
 *
 * Nothing here prints. No byte of the process is trusted.
 */
#ifndef SFB_REMOTE_H
#define SFB_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api.h"
#include "frame.h"
#include "status.h"

SFB_BEGIN_DECLS

struct sfb_remote; /* opaque */

/* Bytes of texts in a struct of this header, with the zero at their end. */
enum { SFB_REMOTE_NAME = 64, SFB_REMOTE_WHY = 256 };

/* Why a process cannot be read, and what to do about it: one line. */
struct sfb_remote_fault {
    char why[SFB_REMOTE_WHY];
};

/* How registers and stack of a thread were read. */
enum sfb_remote_how {
    SFB_REMOTE_UNREAD = 0,  /* not at all */
    SFB_REMOTE_ASLEEP = 1,  /* it slept, and was not stopped */
    SFB_REMOTE_STOPPED = 2, /* it was stopped for a moment */
    SFB_REMOTE_SAVED = 3    /* a core file has them */
};

struct sfb_remote_frame {
    uint64_t address;
    uint8_t kind;   /* enum sfb_frame_kind */
    uint8_t source; /* enum sfb_source */
    uint64_t sp;    /* stack pointer of the frame: sp once control is at address */
};

/* A function of Python, by the thread's frame that runs it: a C function of the interpreter. */
struct sfb_remote_python {
    size_t frame;     /* index of that frame */
    const char *name; /* qualified: "Shop.cart"; NULL: what follows is not certain */
    const char *file;
    uint32_t line; /* 0: no line */
};

/* What a thread of Python had of the interpreter's lock. Of a core no wait is known. */
enum sfb_remote_gil {
    SFB_REMOTE_GIL_UNKNOWN = 0, /* or it is no such thread */
    SFB_REMOTE_GIL_HELD = 1,
    SFB_REMOTE_GIL_WAITED = 2,
    SFB_REMOTE_GIL_RELEASED = 3
};

struct sfb_remote_thread {
    pid_t tid;
    pid_t own_tid; /* by which it knows itself: another number if it is in a PID namespace */
    char name[SFB_REMOTE_NAME]; /* any bytes */
    char state;                 /* as in proc(5): R, S, D, T, t, Z, ... */
    uint64_t cpu_time;          /* ns */

    enum sfb_remote_how how;
    const char *why; /* why it was not read, or not stopped; NULL: nothing to say */

    bool in_call;         /* the next two are known */
    int64_t call;         /* number of the system call */
    uint64_t argument[6]; /* of it */

    struct sfb_remote_frame *frames; /* innermost first */
    size_t frame_count;
    struct sfb_remote_python *python; /* innermost first; functions of one frame are neighbours */
    size_t python_count;
    size_t python_unplaced; /* functions whose C frame was not found: they are left out */
    enum sfb_remote_gil python_gil;
    enum sfb_status end; /* as in struct sframe_backtrace_info */
    int signal;          /* of a core: the last one that it got; 0: none */
};

enum sfb_remote_flags {
    SFB_REMOTE_NO_STOP = 0x1, /* stop no thread: running ones are not read */

    /*
     * All threads are stopped first, so that their stacks are of one moment. A thread that sleeps in
     * a call with a time-out is left asleep, and has slept since before that moment. All stand until
     * the last one is copied: 25 us a thread. Of a stack at most 1 MiB is copied, and nothing of
     * another one that a signal handler interrupted. Not with SFB_REMOTE_NO_STOP.
     */
    SFB_REMOTE_CONSISTENT = 0x2
};

struct sfb_remote_options {
    size_t size;         /* sizeof (struct sfb_remote_options) */
    uint32_t flags;      /* enum sfb_remote_flags */
    uint32_t max_frames; /* of a thread; 0: 65,536 */
    pid_t tid;           /* this thread alone; 0: all of them */
    int zero;
};

/**
 * Opens a process.
 *
 * @param pid    of a process of this machine type
 * @param fault  written on failure
 *
 * @return NULL: no such process, no permission, or another machine's
 */
struct sfb_remote *sfb_remote_open(pid_t pid, struct sfb_remote_fault *fault);

/**
 * Reads the stacks of its threads, anew with each call.
 *
 * @param options  NULL: defaults
 * @param fault    written on failure
 *
 * @return false: the process has ended, no such thread, or no memory
 *
 * Cost, for each thread: 30 us and its walk. A thread that is stopped stands for three system calls.
 */
bool sfb_remote_read(struct sfb_remote *remote, const struct sfb_remote_options *options,
                     struct sfb_remote_fault *fault);

/**
 * Gives the threads of the last sfb_remote_read(): the process's first one, then the others by their numbers. One
 * that came or went meanwhile may be missing.
 *
 * @return the first of *count; part of the remote, until it is read again
 */
const struct sfb_remote_thread *sfb_remote_threads(const struct sfb_remote *remote, size_t *count);

/**
 * Says which interpreter the process has: "CPython 3.11.2".
 *
 * @param why  why its functions are not shown; "": they are
 * @return NULL: none was found. Part of the remote, until it is read again
 */
const char *sfb_remote_interpreter(const struct sfb_remote *remote, const char **why);

/**
 * Gives a number under which /proc has the memory and the modules of the process: its own, or that of a
 * thread if its first thread has ended before the others. Of a core: 0.
 */
pid_t sfb_remote_memory_pid(const struct sfb_remote *remote);

/**
 * Gives the address to look up for a frame: of a return address the byte before it, for that is the call;
 * not behind a signal handler, where nothing was called.
 *
 * @param index  below thread->frame_count
 */
uint64_t sfb_remote_frame_lookup(const struct sfb_remote_thread *thread, size_t index);

/**
 * Reads memory of the process.
 *
 * @return bytes read, from the first on
 */
size_t sfb_remote_memory_read(const struct sfb_remote *remote, uint64_t address, void *out,
                              size_t size);

void sfb_remote_close(struct sfb_remote *remote);

/* --- Cores ---------------------------------------------------------------------------------------- */

/* A module of a process that a core file is of. */
struct sfb_remote_module {
    uint64_t start, end; /* of its mappings */
    const char *path;    /* as in the process; of the vDSO its name, without a folder */
    const char *name; /* the path by which the loader found it, perhaps a link; NULL: not known */
    const uint8_t *build_id;
    size_t build_id_size; /* 0: it is not in the core */
    bool gone;            /* its file had been deleted by then */
    void *image;          /* its bytes, of the vDSO; else NULL */
    size_t image_size;
};

/* Where files of modules come from, for a caller that finds them by other means. */
struct sfb_remote_files {
    /*
     * Finds the file of a module. It is asked once for each module that a walk comes to.
     *
     * @param size  of the file; written if found
     * @return its bytes, good until the remote is closed, never written to; NULL: it is not here
     */
    void *(*find)(void *user, const struct sfb_remote_module *module, size_t *size);
    void *user;
};

struct sfb_remote_core_options {
    size_t size;                          /* sizeof (struct sfb_remote_core_options) */
    const char *root;                     /* the folder that was / there; NULL: our own */
    uint64_t max_unpacked;                /* bytes that a packed core may have unpacked; 0: 4 GiB */
    const struct sfb_remote_files *files; /* borrowed; NULL: by path, and by build-id */
};

/* What a core file says of its process. */
struct sfb_remote_core {
    pid_t pid;
    char name[SFB_REMOTE_NAME]; /* any bytes */
    char arguments[SFB_REMOTE_WHY];
    bool foreign;     /* it is of another machine than this program */
    int signal;       /* that the process died of; 0: none, it was saved alive */
    bool has_code;    /* of that signal the rest is known, as in siginfo_t */
    int code;         /* > 0: the kernel sent it */
    pid_t sender;     /* code <= 0 */
    uint64_t address; /* code > 0 */
    uint64_t lost;    /* bytes that were cut off at its end */
};

/**
 * Opens a core file: of x86-64 or AArch64, whichever this machine is; by the kernel, gdb's gcore, or
 * systemd-coredump; packed by zstd or not; full or partial.
 *
 * sfb_remote_read(), _threads(), _memory_read() and _close() take it as they take a process. Memory that
 * is not in the core is taken from the files of its modules, which are found by their build-ids.
 *
 * @param options  NULL: defaults
 * @param fault    written on failure
 *
 * @return NULL: unreadable, no core, packed by something else, or cut off before its threads
 *
 * A packed core is unpacked to a file without a name in $TMPDIR, or /var/tmp.
 */
struct sfb_remote *sfb_remote_open_core(const char *path,
                                        const struct sfb_remote_core_options *options,
                                        struct sfb_remote_fault *fault);

/* @return part of the remote; NULL: it is of a process that runs */
const struct sfb_remote_core *sfb_remote_core_of(const struct sfb_remote *remote);

/* The modules of a core. @return the first of *count; part of the remote. Of a process: none */
const struct sfb_remote_module *sfb_remote_modules(const struct sfb_remote *remote, size_t *count);

/* @return the name of a system call of this machine, as in <sys/syscall.h>; NULL: no name is known */
const char *sfb_remote_call_name(int64_t number);

/* @return whether the first argument of a system call is a descriptor, which a thread may sleep on */
bool sfb_remote_call_takes_descriptor(int64_t number);

SFB_END_DECLS

#endif
