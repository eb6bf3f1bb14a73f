/**
 * The walker: frame after frame, each from the first source that has an answer.
 *
 * Everything is in caller storage; nothing here allocates, locks, opens a descriptor or touches
 * errno, so all of it may be used in a signal handler. Memory and modules are policies: those of
 * the running process by default, a caller's functions for a test, a copied stack or a core file.
 */
#ifndef SFB_WALK_H
#define SFB_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "eh_frame.h"
#include "frame.h"
#include "section.h"
#include "status.h"

SFB_BEGIN_DECLS

/**
 * Takes the registers of a signal's ucontext_t.
 *
 * @param ucontext  the third argument of an SA_SIGINFO handler
 * @return SFB_OK, SFB_BAD_ARGUMENT (NULL)
 * Threads, signals: safe.   Cost: constant.
 */
SFB_API enum sfb_status sfb_context_from_ucontext(struct sfb_context *out, const void *ucontext);

/**
 * Takes the registers of the caller as they are when this call returns: the pc is the return
 * address, and only the registers that a call preserves are known.
 *
 * A walk from it (with kind SFB_FRAME_RA) is good until the calling function returns.
 *
 * Threads, signals: safe.   Cost: ten instructions.
 */
SFB_API void sfb_context_capture(struct sfb_context *out);

/* How words of the unwound stack are read. */
struct sfb_memory {
    uint64_t lo, hi; /* [lo, hi) is read with plain loads; multiples of 8; lo == hi: nothing is */

    /*
     * Reads the word at any other address; false if it cannot be. It may widen [lo, hi) to what it
     * learnt. NULL: nothing else is readable.
     */
    bool (*read)(struct sfb_memory *memory, uint64_t address, uint64_t *out);
    void *user;
};

/* One loaded module. */
struct sfb_module {
    uint64_t start, end;            /* [start, end) of its segments in the unwound process */
    enum sfb_status section_status; /* SFB_OK: section is good; else why there is none */
    struct sfb_section section;
    enum sfb_status eh_frame_status; /* the same of eh_frame */
    struct sfb_eh_frame eh_frame;
    uint16_t id; /* stands for the bytes of this very file, never given twice in a process;
                    0: none, and nothing that its tables say is remembered */
};

/* Where processes begin: code whose frames have no caller, whatever tables say of them. */
struct sfb_entries {
    uint64_t program; /* entry point of the program, 0: not known */
    uint64_t loader;  /* entry point of the dynamic loader, 0: none */
};

/* Finds the module that contains a pc. */
struct sfb_modules {
    /*
     * @param room  where a module may be described that stands nowhere else, or NULL: then it has
     *               to stand somewhere
     * @return the module, good until the next call; NULL: none contains pc
     */
    const struct sfb_module *(*find)(const struct sfb_modules *modules, uint64_t pc,
                                     struct sfb_module *room);
    void *user;
    struct sfb_entries entries;
};

enum sfb_walker_flags {
    SFB_WALKER_NO_LIBUNWIND = 0x1,
    SFB_WALKER_NO_CACHE = 0x2, /* look every frame up in the tables themselves: the reference */

    /*
     * Of this process: ask the kernel of each page of the stack and of each module, also of those
     * that are known. See SFRAME_BACKTRACE_DOUBT in <sframe_backtrace.h>.
     */
    SFB_WALKER_DOUBT = 0x4
};

/*
 * The default of max_work. In stacks that are mapped whole, 128 MiB of words; a walk that uses it up
 * takes about a tenth of a second.
 */
#define SFB_WALKER_WORK ((uint32_t)1 << 24)

struct sfb_walker_options {
    size_t size;       /* sizeof (struct sfb_walker_options): lets the struct grow */
    uint32_t flags;    /* enum sfb_walker_flags */
    uint32_t max_work; /* words of stack passed, rows and CFI instructions read; 0: default */
    struct sfb_memory *memory;         /* NULL: that of this process */
    const struct sfb_modules *modules; /* NULL: those of this process */
};

/*
 * A walk, in caller storage: 512 bytes. Private; see sfb_walker_frame() and sfb_walker_regs(). What
 * lies in it has types of its own, so accesses to this struct may alias anything.
 */
struct sfb_walker {
    uint64_t state[64];
} SFB_MAY_ALIAS;

/**
 * Starts a walk.
 *
 * @param out      the walker; its address must not change
 * @param start    registers of the innermost frame; borrowed until the walker is last used, and
 *                 overwritten where the walk comes to another frame of which all registers are
 *                 known (behind a signal's, or where a rule asks for one of them), or loses them
 * @param kind     SFB_FRAME_PC: start is an interrupted instruction, looked up as it is;
 *                 SFB_FRAME_RA: start's pc is a return address
 * @param options  NULL: defaults
 *
 * @return SFB_OK, SFB_BAD_ARGUMENT
 *
 * Threads: safe, each with its own walker.   Signals: safe.   Cost: constant.
 */
SFB_API enum sfb_status sfb_walker_init(struct sfb_walker *out, struct sfb_context *start,
                                        enum sfb_frame_kind kind,
                                        const struct sfb_walker_options *options);

/**
 * Gives the next frame, beginning with the innermost.
 *
 * @param out  written on SFB_OK; NULL: not wanted
 *
 * @return SFB_OK   a frame is in out
 *         SFB_END  the frame given before was the outermost
 *         any miss, corruption or stack status: there is a caller but it cannot be found.
 *         sfb_walker_frame()->missed has the statuses of all sources.
 *         Asking again gives the same answer.
 *
 * Threads: safe, each with its own walker.   Signals: safe.
 * Cost: 10 to 20 ns where the rule for the pc is cached, 40 to 80 ns where it is looked up in an
 * .sframe section, 150 to 300 ns in an .eh_frame; 2 to 4 us where libunwind has to step. (The front
 * doors in <sframe_backtrace.h> take many cached frames in one loop, which costs 1 to 5 ns each.)
 */
SFB_API enum sfb_status sfb_walker_next(struct sfb_walker *walker, struct sfb_frame *out);

/**
 * Shows the frame that sfb_walker_next() gave last, or the start before its first call.
 *
 * After a failure, `missed` says why each source found no caller of this frame.
 *
 * @return part of the walker; good until its next call
 *
 * Threads: safe, each with its own walker.   Signals: safe.   Cost: constant.
 */
SFB_API const struct sfb_frame *sfb_walker_frame(const struct sfb_walker *walker);

/**
 * Shows the registers of that frame.
 *
 * @return part of the walker; good until its next call
 *
 * Threads: safe, each with its own walker.   Signals: safe.   Cost: constant.
 */
SFB_API const struct sfb_regs *sfb_walker_regs(const struct sfb_walker *walker);

SFB_END_DECLS

#endif
