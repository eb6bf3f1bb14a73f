/* Files of copied spaces: each is opened once, and described once for each address that it is loaded at. */
#ifndef REMOTE_COPIED_FILES_H
#define REMOTE_COPIED_FILES_H

#include "sfb/copied.h"
#include "sfb/walk.h"
#include "symbols/build_id.h"
#include "symbols/candidate.h"
#include "symbols/object.h"
#include "symbols/tables.h"
#include "util/array.h"
#include "util/index.h"
#include "util/strings.h"

/* Not a file. */
#define COPIED_NO_FILE UINT32_MAX

struct copied_file {
    char *path, *root, *opens; /* the last two may be NULL */
    struct object_build_id id; /* as it was given; of the file, once that is open */
    const void *given;         /* its bytes, by the caller; NULL: to be opened */
    size_t given_size;
    bool tried, is_there;
    struct object_opened opened;
    struct object object;
};

/* A file at an address. */
struct copied_loaded {
    struct object_tables tables;
    void *index;    /* of its .eh_frame; NULL: it has one itself */
    uint64_t entry; /* of a process that this file begins */
    bool is_there, is_program, is_loader;
};

struct sfb_copied_files {
    REPORT_ARRAY(struct copied_file *) files;
    REPORT_ARRAY(struct copied_loaded *) loaded;
    struct report_strings keys; /* equal files have equal numbers */
    struct report_index by_bias;
    struct sfb_rule_cache *cache;
    uint16_t ids; /* given so far */
    bool renew;   /* there was no id for a module: all are given anew */
};

/* @return false: no memory */
bool copied_files_add(struct sfb_copied_files *files, uint32_t *out,
                      const struct sfb_copied_mapping *mapping);

/* Opens a file, at the first time. @return whether it could be */
bool copied_file_open(struct copied_file *file);

/* The file where a mapping puts it. @return NULL: no such file, or it has no tables of this machine */
struct copied_loaded *copied_files_load(struct sfb_copied_files *files, uint32_t number,
                                        uint64_t start, uint64_t offset, bool executable);

/* Between two walks: ids begin anew where they have run out. */
void copied_files_renew(struct sfb_copied_files *files);

/* Gives a module its id, with which its rules are cached. */
void copied_files_give_id(struct sfb_copied_files *files, struct copied_loaded *loaded);

#endif
