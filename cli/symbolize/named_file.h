/*
 * The file that `sfb symbolize --object` names addresses of. What libdw reads of debug information it keeps, for as long as the
 * file is open; so the file is opened anew when much of it has been read.
 */
#ifndef CLI_SYMBOLIZE_NAMED_FILE_H
#define CLI_SYMBOLIZE_NAMED_FILE_H

#include "cli/tool.h"
#include "symbols/module_files.h"

struct named_file {
    const char *path;
    struct module_files files;
    struct object_names *names;
    unsigned found;  /* addresses since it was opened */
    size_t resident; /* bytes of memory behind the first of them */
};

/* @return false after a complaint, with the exit status; nothing needs closing */
bool named_file_open(struct named_file *file, const char *path, const struct object_places *places,
                     enum tool_exit *exit_status);

/* Visits the functions at an address, as object_names_find() does. @return false: no memory, or the file is gone */
bool named_file_find(struct named_file *file, uint64_t address,
                     void (*visit)(void *user, const struct object_name *name), void *user);

void named_file_close(struct named_file *file);

#endif
