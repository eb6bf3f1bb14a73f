/* Which files a core's process had mapped: what /proc/PID/maps would have said. */
#ifndef REMOTE_CORE_MAPS_H
#define REMOTE_CORE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/core_notes.h"
#include "symbols/process_maps.h"

/* A mapping of a file. */
struct remote_core_mapping {
    uint64_t start, end;
    uint64_t offset;  /* in the file */
    const char *path; /* borrowed; any bytes */
    bool executable;
};

struct remote_core_mappings {
    struct remote_core_mapping *all;
    size_t count, room;
};

/* @return false: no memory */
bool remote_core_mappings_add(struct remote_core_mappings *mappings,
                              const struct remote_core_mapping *mapping);

/* Reads NT_FILE, as far as it is sound. @return false: no memory */
bool remote_core_mappings_of_note(struct remote_core_mappings *out,
                                  const struct remote_core_file *file,
                                  const struct remote_core_bytes *note);

/*
 * Sorts the mappings, and makes modules of them: mappings of one file that follow each other.
 *
 * @param out  for object_maps_free() in any case
 * @return false: no memory
 */
bool remote_core_maps(struct object_maps *out, struct remote_core_mappings *mappings);

#endif
