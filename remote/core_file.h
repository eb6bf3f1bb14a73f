/*
 * A core file: an ELF file whose segments are the memory of a process, and its notes.
 *
 * It is read, not mapped: a file that shrinks meanwhile has fewer bytes, and nothing else happens. What is
 * allocated is bounded by what the file has.
 */
#ifndef REMOTE_CORE_FILE_H
#define REMOTE_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/remote.h"

/* Memory at [start, end). Of it the first `saved` bytes were written, and `present` of these are in the file. */
struct remote_core_segment {
    uint64_t start, end;
    uint64_t offset; /* in the file */
    uint64_t saved, present;
    bool executable, writable;
};

struct remote_core_page;

struct remote_core_file {
    int fd;
    uint64_t size;
    uint16_t machine;                     /* EM_X86_64, EM_AARCH64 */
    struct remote_core_segment *segments; /* ascending, disjoint */
    size_t segment_count;
    uint8_t *notes; /* of all PT_NOTE segments */
    size_t notes_size;
    uint64_t lost; /* bytes that its headers name and that lie behind its end */
    struct remote_core_page *pages;
};

/*
 * Reads the headers and the notes.
 *
 * @param fd  of a regular file; closed with the core, and also where it is refused
 *
 * @return false: not a core, not of 64 bits, of another machine, cut off before its notes, or no memory
 */
bool remote_core_file_open(struct remote_core_file *out, int fd, struct sfb_remote_fault *fault);

void remote_core_file_close(struct remote_core_file *file);

/* @return the segment with an address; NULL: none */
const struct remote_core_segment *remote_core_segment_at(const struct remote_core_file *file,
                                                         uint64_t address);

/* Reads memory that is in the file, from an address on. @return bytes */
size_t remote_core_file_read(const struct remote_core_file *file, uint64_t address, void *out,
                             size_t size);

#endif
