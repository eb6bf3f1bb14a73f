/*
 * A folder that somebody names as a place of debug files: laid out by build-id, or a plain tree of
 * files, such as packages that were unpacked, or what `sfb collect` wrote.
 */
#ifndef OBJECT_SYMBOL_PATH_H
#define OBJECT_SYMBOL_PATH_H

#include <stddef.h>

struct object_symbol_path; /* opaque */

/* A tree with more files is not searched by name: at 100 bytes each they would take 100 MiB. */
enum { OBJECT_SYMBOL_PATH_MAX = 1 << 20 };

/* @return NULL: it is no folder, or there is no memory, and errno is set */
struct object_symbol_path *object_symbol_path_open(const char *folder);

void object_symbol_path_close(struct object_symbol_path *path);

const char *object_symbol_path_folder(const struct object_symbol_path *path);

/*
 * Finds the files of a base name, at any depth. The first call goes through the tree, later ones
 * cost the logarithm of its size. Links to folders are not followed.
 *
 * @param out    the paths, in the order of their names; they belong to the folder
 * @param cause  NULL, or why the tree could not be searched
 * @return how many
 */
size_t object_symbol_path_find(struct object_symbol_path *path, const char *base_name,
                               const char *const **out, const char **cause);

#endif
