/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * Walker: gives frame after frame, each from the first source that has an answer.
 *
 * All state is in caller storage. Nothing here allocates, locks, opens a descriptor or touches
 * errno, so all of it may be used in a signal handler. Memory and modules are policies: by default
 * this process, or a caller's functions for a test, a copied stack or a core file.
 */
#ifndef SFB_WALK_H
#define SFB_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "eh_frame.h"
#include "frame.h"
#include "memory.h"
#include "rule_cache.h"
#include "section.h"
#include "status.h"

SFB_BEGIN_DECLS

/**
 * Reads the registers of a signal's ucontext_t.
 *
 * @param out       written on SFB_OK
 * @param ucontext  the third argument of an SA_SIGINFO handler
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  an argument is NULL
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API enum sfb_status sfb_context_from_ucontext(struct sfb_context *out, const void *ucontext);

/**
 * Captures the registers of the caller, as they are when this call returns. The pc is the return
 * address; only the callee-saved registers are known.
 *
 * A walk from it, with kind SFB_FRAME_RA, is valid until the calling function returns.
 *
 * @param out  written
 *
 * Threads, signals: safe.   Cost: ten instructions.
 */
SFB_API void sfb_context_capture(struct sfb_context *out);

/*
 * One loaded module. It may grow: set members by name, the others are zero. Program and library are
 * of one version, since these functions are in the static library only.
 */
struct sfb_module {
    uint64_t start, end;            /* [start, end) of its segments in the unwound process */
    enum sfb_status section_status; /* SFB_OK: section is valid; else why it is not */
    struct sfb_section section;
    enum sfb_status eh_frame_status; /* SFB_OK: eh_frame is valid; else why it is not */
    struct sfb_eh_frame eh_frame;
    uint16_t id; /* of this file's bytes at this address, for a rule cache: below 1024, never
                    reused. 0: no id, and its rules are not cached */
};

/* Entry points of a process: a frame there is outermost, whatever its table states. */
struct sfb_entries {
    uint64_t program; /* entry point of the program, 0: not known */
    uint64_t loader;  /* entry point of the dynamic loader, 0: none */
};

struct sfb_libunwind; /* private */

/*
 * The modules of an address space. A walk looks up each frame's module. Only find() is required.
 *
 * Walks run in signal handlers, so each function here must be safe there.
 */
struct sfb_modules {
    /*
     * Finds the module that contains a pc.
     *
     * @param scratch  room to describe a module that is not remembered; NULL: only remembered
     *                 modules are found
     * @return the module, valid until the next call; NULL: no module contains pc
     */
    const struct sfb_module *(*find)(const struct sfb_modules *modules, uint64_t pc,
                                     struct sfb_module *scratch);

    /*
     * Remembers the module that contains a pc, so that find() needs no scratch for it.
     *
     * @return the module; NULL: it cannot be remembered
     */
    const struct sfb_module *(*learn)(const struct sfb_modules *modules, uint64_t pc);

    /*
     * Reads a word of code or of a table, as sfb_memory.read() does. `memory` is the walk's own; the
     * user's data is in struct sfb_modules. NULL: tables are read as the stack is.
     */
    bool (*read)(struct sfb_memory *memory, uint64_t address, uint64_t *out);

    struct sfb_rule_cache *cache; /* of rules by pc, under the modules' ids; NULL: not cached */

    /* Steps where no table can state a rule: sfb_libunwind_loaded(). NULL: such frames end a walk. */
    const struct sfb_libunwind *libunwind;

    bool tables_are_mapped; /* in this process, at their own addresses */
    void *user;
    struct sfb_entries entries;
};

/**
 * Gives the libunwind that was loaded with this library. It reads by a walk's memory and modules, so
 * it can walk any address space of this machine type.
 *
 * @return NULL: it could not be loaded, or is not built in
 *
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API const struct sfb_libunwind *sfb_libunwind_loaded(void);

enum sfb_walker_flags {
    SFB_WALKER_NO_LIBUNWIND = 0x1,
    SFB_WALKER_NO_CACHE = 0x2, /* look up each frame in the tables: the reference */

    /*
     * In this process: ask the kernel for each page of the stack and for each module, known ones
     * too. See SFRAME_BACKTRACE_DOUBT in <sframe_backtrace.h>.
     */
    SFB_WALKER_DOUBT = 0x4
};

/* Default of max_work: 128 MiB of stack words, or about 0.1 s. */
#define SFB_WALKER_WORK ((uint32_t)1 << 24)

struct sfb_walker_options {
    size_t size;               /* sizeof (struct sfb_walker_options) */
    uint32_t flags;            /* enum sfb_walker_flags */
    uint32_t max_work;         /* stack words passed, rows and CFI instructions read; 0: default */
    struct sfb_memory *memory; /* NULL: this process's */
    const struct sfb_modules *modules; /* NULL: this process's */
};

/*
 * A walk, in caller storage: 512 bytes. Private; see sfb_walker_frame() and sfb_walker_regs(). The
 * library keeps other types in it, so accesses to this struct may alias anything.
 */
struct sfb_walker {
    uint64_t state[64];
} SFB_MAY_ALIAS;

/**
 * Starts a walk.
 *
 * @param out      the walker; its address must not change
 * @param start    registers of the innermost frame; borrowed until the walker is last used. The
 *                 walk overwrites them when it reaches a later frame with all registers known.
 * @param kind     SFB_FRAME_PC: start is an interrupted instruction, looked up as it is;
 *                 SFB_FRAME_RA: start's pc is a return address
 * @param options  NULL: defaults; borrowed are its memory and modules, until the last use
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  out or start is NULL, another kind, an unknown flag, or options that
 *                           are not zero behind what this version knows
 *         SFB_NO_SIZE       the size of options is not set
 *         SFB_NO_RESOURCE   the thread has no thread-local storage yet
 *
 * Threads: safe, each with its own walker.   Signals: safe.   Cost: constant.
 */
SFB_API enum sfb_status sfb_walker_init(struct sfb_walker *out, struct sfb_context *start,
                                        enum sfb_frame_kind kind,
                                        const struct sfb_walker_options *options);

/**
 * Gives the next frame, first the innermost.
 *
 * @param walker  started
 * @param out     written on SFB_OK; NULL: not wanted
 *
 * @return SFB_OK   a frame is in out
 *         SFB_END  the frame before was the outermost
 *         SFB_UNPROVEN_END  apparently so, but an unproven guess led to it: docs/evidence/ACCURACY.md
 *         else     there is a caller, but it was not found: a miss, a corrupt table, or a stack
 *                  that cannot be followed. sfb_walker_frame()->missed has each source's status.
 *         After SFB_END or a failure, another call gives the same answer.
 *
 * Threads: safe, each with its own walker.   Signals: safe.
 * Cost: 10 to 20 ns by a rule in the cache, 40 to 80 ns from .sframe, 150 to 300 ns from .eh_frame,
 * 2 to 4 us by libunwind. (The front doors in <sframe_backtrace.h> take cached frames in one loop,
 * in 1 to 5 ns each.)
 */
SFB_API enum sfb_status sfb_walker_next(struct sfb_walker *walker, struct sfb_frame *out);

/**
 * Shows the frame that sfb_walker_next() gave last, or the start before its first call.
 *
 * After a failure, `missed` says why each source found no caller of this frame.
 *
 * @param walker  started
 *
 * @return part of the walker, valid until its next call
 *
 * Threads: safe, each with its own walker.   Signals: safe.   Cost: constant.
 */
SFB_API const struct sfb_frame *sfb_walker_frame(const struct sfb_walker *walker);

/**
 * Tells after a failure whether that frame is not real: a wrong row or a half-built stack led to a
 * word that lies in no module and behind no call. Callers that list frames leave it out.
 *
 * @param walker  started
 *
 * @return true: not a frame; false: a frame, or the walk still goes on
 *
 * Threads: safe, each with its own walker.   Signals: safe.   Cost: constant.
 */
SFB_API bool sfb_walker_is_spurious(const struct sfb_walker *walker);

/**
 * Shows the registers of that frame.
 *
 * @param walker  started
 *
 * @return part of the walker, valid until its next call
 *
 * Threads: safe, each with its own walker.   Signals: safe.   Cost: constant.
 */
SFB_API const struct sfb_regs *sfb_walker_regs(const struct sfb_walker *walker);

SFB_END_DECLS

#endif
