/*
 * The modules of a process by the dynamic loader's own list, for cores without NT_FILE: DT_DEBUG of the
 * program leads to r_debug, and that to a link_map of each module.
 */
#ifndef REMOTE_CORE_LINKS_H
#define REMOTE_CORE_LINKS_H

#include <stdbool.h>

#include "remote/core_maps.h"

/* Program headers of a module: of its first page if the core has that, else of its file. */
struct remote_core_headers {
    /*
     * @param path   of the module
     * @param start  where its first byte would be mapped
     * @param size   bytes of its file, or of its first page
     * @return the bytes; NULL: neither is here
     */
    const void *(*find)(void *user, const char *path, uint64_t start, size_t *size);
    void *user;
};

struct remote_core_links {
    struct remote_core_mappings mappings;
    char **paths; /* that the mappings borrow */
    size_t path_count, path_room;
};

/*
 * Follows the list, as far as it is in the core.
 *
 * @param out  all zero; for remote_core_links_free() in any case
 * @return false: no memory
 */
bool remote_core_links_read(struct remote_core_links *out, const struct remote_core_file *file,
                            const struct remote_core_notes *notes,
                            const struct remote_core_headers *headers);

/*
 * Calls for each library of the list, as far as it is in the core, with the path by which it was loaded: NT_FILE has where that
 * led to.
 *
 * @param visit  dynamic: an address in the library, of its dynamic section
 */
void remote_core_links_each(const struct remote_core_file *file,
                            const struct remote_core_notes *notes,
                            void (*visit)(void *user, uint64_t dynamic, const char *path),
                            void *user);

void remote_core_links_free(struct remote_core_links *links);

#endif
