/*
 * Files of a build-id from the servers that DEBUGINFOD_URLS names, through libdebuginfod.so.1, which
 * is loaded on demand. To ask tells a server what is run here, and waits for it.
 */
#ifndef OBJECT_DEBUGINFOD_H
#define OBJECT_DEBUGINFOD_H

#include "object/build_id.h"
#include "object/trail.h"

struct object_debuginfod; /* opaque */

/*
 * @param cause  why not: there is no library, or DEBUGINFOD_URLS names no server
 * @return NULL: no server can be asked
 */
struct object_debuginfod *object_debuginfod_open(const char **cause);

void object_debuginfod_close(struct object_debuginfod *client);

/*
 * Asks for a file; OBJECT_FILE for what was loaded, else for debug information. The library keeps it
 * in its cache. A server that sends nothing for DEBUGINFOD_TIMEOUT seconds (90 if it is not set) is
 * given up, and no other question is put to any: the next modules would wait as long.
 *
 * @param cause  why there is none
 * @return its path in the cache, to be freed; NULL: none
 */
char *object_debuginfod_find(struct object_debuginfod *client, enum object_part part,
                             const struct object_build_id *id, const char **cause);

#endif
