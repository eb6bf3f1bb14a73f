/*
 * The address space that a core is of: its modules and its memory, as policies for a walk. What is not in
 * the core is taken from the files of the modules.
 */
#ifndef REMOTE_CORE_SPACE_H
#define REMOTE_CORE_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "remote/core_file.h"
#include "remote/core_notes.h"
#include "sfb/walk.h"
#include "symbols/process_maps.h"

struct remote_core_module; /* a module, and its file */

struct remote_core_space {
    struct remote_core_file *file;
    const char *root;                     /* NULL: our / */
    const struct sfb_remote_files *files; /* NULL: by path, and by build-id */
    struct object_maps maps;
    struct remote_core_module *modules; /* as maps.modules */
    struct sfb_remote_module *facts;    /* of each */
    struct sfb_modules policy;
    struct sfb_memory memory;
    struct sfb_rule_cache *cache;
    uint16_t ids; /* given so far */
    uint64_t
        unread; /* bytes that may still be read for build-ids: mappings may name the same ones over and over */
    size_t images;     /* bytes that images may still take: the same, for each of them is a copy */
    uint64_t cut;      /* a word that was wanted and is behind the end of the core; 0: none */
    uint64_t left_out; /* one that the core was made without, and no file has; 0: none */
};

/*
 * Lists the modules. Their files are opened when a walk comes to them.
 *
 * @param out  its address must not change; root and files are set
 * @return false: no memory; out is for remote_core_space_close() in any case
 */
bool remote_core_space_open(struct remote_core_space *out, struct remote_core_file *file,
                            const struct remote_core_notes *notes);

/* @return the bytes of a module's file, good until the space is closed; NULL: it is not here */
void *remote_core_space_file(struct remote_core_space *space, size_t module, size_t *size);

void remote_core_space_close(struct remote_core_space *space);

/* Reads memory, of the core or of a module's file. @return bytes, from the first on */
size_t remote_core_space_read(struct remote_core_space *space, uint64_t address, void *out,
                              size_t size);

#endif
