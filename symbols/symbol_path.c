#include "symbols/symbol_path.h"

#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/base_name.h"
#include "util/grow.h"

struct object_symbol_path {
    char *folder;
    char **files; /* by base name, then by path */
    size_t count, room;
    bool searched;
    const char *cause; /* NULL, or why the list is empty */
};

struct object_symbol_path *object_symbol_path_open(const char *folder)
{
    struct object_symbol_path *p = NULL;
    struct stat status;

    if (stat(folder, &status) != 0)
        return NULL;
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        return NULL;
    }
    p = calloc(1, sizeof *p);
    if (p && !(p->folder = strdup(folder))) {
        free(p);
        return NULL;
    }
    return p;
}

static void forget_files(struct object_symbol_path *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->files[i]);
    free(p->files);
    p->files = NULL;
    p->count = p->room = 0;
}

void object_symbol_path_close(struct object_symbol_path *p)
{
    if (!p)
        return;
    forget_files(p);
    free(p->folder);
    free(p);
}

const char *object_symbol_path_folder(const struct object_symbol_path *p)
{
    return p->folder;
}

static int by_name(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const int order = strcmp(sfb_base_name(x), sfb_base_name(y));

    return order ? order : strcmp(x, y);
}

/* @return NULL, or the cause */
static const char *add(struct object_symbol_path *p, const char *file)
{
    if (p->count == OBJECT_SYMBOL_PATH_MAX)
        return "more than 1048576 files";
    if (!array_make_room(&p->files, p->count, &p->room, sizeof *p->files))
        return strerror(ENOMEM);
    p->files[p->count] = strdup(file);
    return p->files[p->count] ? (p->count++, NULL) : strerror(ENOMEM);
}

/* @return NULL, or the cause */
static const char *search(struct object_symbol_path *p)
{
    char *const roots[] = { p->folder, NULL };
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    const char *cause = tree ? NULL : strerror(errno);

    for (FTSENT *entry; tree && !cause && (entry = fts_read(tree)) != NULL;)
        if (entry->fts_info == FTS_F || entry->fts_info == FTS_SL)
            cause = add(p, entry->fts_path);
    if (tree)
        fts_close(tree);
    if (cause)
        forget_files(p);
    else if (p->count > 0)
        qsort(p->files, p->count, sizeof *p->files, by_name);
    return cause;
}

/* @return the first file with this or a higher base name */
static size_t lower_bound(const struct object_symbol_path *p, const char *name)
{
    size_t low = 0, high = p->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(sfb_base_name(p->files[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t object_symbol_path_find(struct object_symbol_path *p, const char *name,
                               const char *const **out, const char **cause)
{
    size_t first, count = 0;

    if (!p->searched)
        p->cause = search(p);
    p->searched = true;
    *cause = p->cause;
    first = lower_bound(p, name);
    while (first + count < p->count && strcmp(sfb_base_name(p->files[first + count]), name) == 0)
        count++;
    *out = p->files ? (const char *const *)p->files + first : NULL;
    return count;
}
