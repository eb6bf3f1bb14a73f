/*
 * Files by build-id from the servers in DEBUGINFOD_URLS, through libdebuginfod.so.1, which is
 * loaded on demand. A query tells the server which programs run here, and blocks.
 */
#ifndef SYMBOLS_DEBUGINFOD_H
#define SYMBOLS_DEBUGINFOD_H

#include "symbols/build_id.h"
#include "symbols/trail.h"

struct object_debuginfod; /* opaque */

/*
 * @param cause  why not: no library, or no server in DEBUGINFOD_URLS
 * @return NULL: no server to query
 */
struct object_debuginfod *object_debuginfod_open(const char **cause);

void object_debuginfod_close(struct object_debuginfod *client);

/*
 * Queries a file: OBJECT_FILE for the loaded file, else debug information. The library caches it.
 * If a server sends nothing for DEBUGINFOD_TIMEOUT seconds (default 90), no server is queried any
 * more: each module would wait as long.
 *
 * @param cause  why the file is missing
 * @return its path in the cache, for free(); NULL: missing
 */
char *object_debuginfod_find(struct object_debuginfod *client, enum object_part part,
                             const struct object_build_id *id, const char **cause);

#endif
