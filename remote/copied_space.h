/* The mappings of one process, as a policy for walks. */
#ifndef REMOTE_COPIED_SPACE_H
#define REMOTE_COPIED_SPACE_H

#include "remote/copied_files.h"

struct copied_range {
    uint64_t start, end, offset;
    uint32_t file; /* COPIED_NO_FILE */
    bool executable;
    bool tried; /* loaded was looked for */
    struct copied_loaded *loaded;
};

struct sfb_copied_space {
    struct sfb_copied_files *files;
    struct copied_range *ranges; /* ascending, apart from each other */
    size_t count, room;
    size_t last; /* found last */
    struct sfb_modules policy;
};

/* @return the range with an address; NULL: nothing is mapped there */
struct copied_range *copied_space_find(struct sfb_copied_space *space, uint64_t address);

/* Reads code from the file that is mapped there. @return false: no such file, or not executable */
bool copied_space_code(struct sfb_copied_space *space, uint64_t address, uint64_t *out);

#endif
