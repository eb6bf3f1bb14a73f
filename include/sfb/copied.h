/* Unstable: may change in any release. Its functions are in libsfb-remote.a only. */
/**
 * Copied stacks: registers, the bytes of a stack and a list of mapped files become a backtrace in CBF.
 *
 * So walks what perf events carry (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER), here or on another day:
 * the process may run on, or be gone.
 *
 * A set of files has any number of spaces, one for each process. A file is opened when a pc is first in
 * it, once for all spaces, and its rules are remembered for all of them.
 *
 * Nothing here prints. No byte of a stack, a file or a list is trusted.
 */
#ifndef SFB_COPIED_H
#define SFB_COPIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "context.h"
#include "status.h"

SFB_BEGIN_DECLS

struct sfb_copied_files; /* opaque: files, opened, with their rules */
struct sfb_copied_space; /* opaque: which of them are mapped where */

/* Mappings of one space, at most: the kernel's own limit, vm.max_map_count. */
enum { SFB_COPIED_MAPPINGS = 65536 };

/* A mapping. It may grow: set members by name, the others are zero. */
struct sfb_copied_mapping {
    uint64_t start, end;
    uint64_t offset;   /* in the file, of start */
    bool executable;   /* a walk reads code in such mappings */
    const char *path;  /* absolute, as in the process; anything else, and NULL: not a file */
    const char *root;  /* of the process, such as "/proc/12/root"; NULL: ours */
    const char *opens; /* another path to the same file, tried first; NULL: none */
    const void *build_id;
    size_t build_id_size; /* 0: not known, and any file at the path is taken */
    const void *image;    /* the file's bytes, for the vDSO; borrowed until the files are closed */
    size_t image_size;
};

/* A mapped program or library. */
struct sfb_copied_module {
    uint64_t base, end; /* from its first byte on, and behind its last executable mapping */
    const char *path;
    const uint8_t *build_id; /* size 0: not known */
    size_t build_id_size;
};

/* A stack as it was at one moment. */
struct sfb_copied_stack {
    struct sfb_context
        registers; /* pc and sp at least; fp helps. Without them the frames of `before` are all */
    uint64_t address;  /* of the first byte: sp, as a rule */
    const void *bytes; /* any alignment */
    size_t size;
    bool whole; /* the copy ends where the stack ends */

    /* Frames that go before: of the kernel, innermost first. The first of them is where it was interrupted. */
    const uint64_t *before;
    size_t before_count;

    /* Written: the stack pointer of each frame of the walk, as struct sfb_frame has it; of those before 0. NULL: not wanted */
    uint64_t *frame_sp;
    size_t frame_sp_room;
};

struct sfb_copied_backtrace {
    size_t size;     /* bytes of CBF */
    uint32_t frames; /* those before included */
    enum sfb_status
        end; /* SFB_END, SFB_UNPROVEN_END: it is complete. SFB_STACK_CUT: the copy ends before
                            the stack does. Else as in struct sframe_backtrace_info. */
};

/**
 * Makes an empty set of files.
 *
 * @return NULL: no memory
 *
 * Threads: one at a time for a set and all its spaces.   Signals: NOT safe.
 */
struct sfb_copied_files *sfb_copied_files_open(void);

/* Closes its files. Its spaces must be closed before. @param files  NULL: nothing happens */
void sfb_copied_files_close(struct sfb_copied_files *files);

/**
 * Makes the space of a process.
 *
 * @param files   borrowed until the space is closed
 * @param parent  its mappings are copied, as fork() does; NULL: it is empty
 *
 * @return NULL: no memory
 */
struct sfb_copied_space *sfb_copied_space_open(struct sfb_copied_files *files,
                                               const struct sfb_copied_space *parent);

void sfb_copied_space_close(struct sfb_copied_space *space);

/* Forgets all mappings, as exec() does. */
void sfb_copied_space_clear(struct sfb_copied_space *space);

/**
 * Adds a mapping. What it overlaps is replaced there, as mmap() with MAP_FIXED does: of unmapping nothing has
 * to be said. Nothing is opened yet.
 *
 * @param mapping  its texts are copied
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  an empty mapping, or a build-id of more than 64 bytes
 *         SFB_NO_RESOURCE   no memory, or SFB_COPIED_MAPPINGS are there
 *
 * Cost: by the mappings behind it.
 */
enum sfb_status sfb_copied_space_map(struct sfb_copied_space *space,
                                     const struct sfb_copied_mapping *mapping);

/**
 * Calls a function with each program and library that has an executable mapping, by increasing address. Opens their
 * files, for their build-ids.
 *
 * @param visit  @return false: no more are wanted
 */
void sfb_copied_space_modules(struct sfb_copied_space *space,
                              bool (*visit)(void *user, const struct sfb_copied_module *module),
                              void *user);

/**
 * Walks a stack and encodes its frames.
 *
 * @param out   written on SFB_OK
 * @param cbf   written: one complete CBF, that ends in `end` or `trunc`
 * @param size  bytes at cbf; a stack that does not fit is cut: SFB_BUFFER_FULL
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT      pc or sp is not known, and no frames go before
 *         SFB_BUFFER_TOO_SMALL  size is below SFB_CBF_SIZE_MIN
 *
 * Cost: 0.1 us, and 20 to 40 ns a frame that was met before; opening a file: a millisecond.
 */
enum sfb_status sfb_copied_walk(struct sfb_copied_space *space,
                                const struct sfb_copied_stack *stack,
                                struct sfb_copied_backtrace *out, void *cbf, size_t size);

SFB_END_DECLS

#endif
