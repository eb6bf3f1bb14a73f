/*
 * A folder that the user names as a place of debug files: laid out by build-id, or a plain tree of
 * files, such as unpacked packages, or the output of `sfb collect`.
 */
#ifndef SYMBOLS_SYMBOL_PATH_H
#define SYMBOLS_SYMBOL_PATH_H

#include <stddef.h>

struct object_symbol_path; /* opaque */

/* The maximum for a search by name: at 100 bytes each these take 100 MiB. */
enum { OBJECT_SYMBOL_PATH_MAX = 1 << 20 };

/* @return NULL: not a folder, or no memory; errno is set */
struct object_symbol_path *object_symbol_path_open(const char *folder);

void object_symbol_path_close(struct object_symbol_path *path);

const char *object_symbol_path_folder(const struct object_symbol_path *path);

/*
 * Finds the files of a base name, at any depth. The first call walks the tree, later ones cost the
 * logarithm of its size. Links to folders are not followed.
 *
 * @param out    the paths, sorted; owned by the folder
 * @param cause  NULL, or why the tree could not be searched
 * @return their number
 */
size_t object_symbol_path_find(struct object_symbol_path *path, const char *base_name,
                               const char *const **out, const char **cause);

#endif
