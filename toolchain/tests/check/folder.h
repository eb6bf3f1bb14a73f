/* A folder for a test's files, and a faulty file for it. */
#ifndef CHECK_FOLDER_H
#define CHECK_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/check_file.h"
#include "support/run.h"
#include "support/test.h"

static char folder[64] = "/tmp/sfb-check.XXXXXX";

static inline void make_folder(void)
{
    cr_assert(ne(ptr, mkdtemp(folder), NULL));
}

static inline void remove_folder(void)
{
    struct run run = run_line("rm -rf '%s'", folder);

    run_free(&run);
}

static inline void write_file(const char *name, const struct file *f)
{
    char path[256];
    FILE *to;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    to = fopen(path, "wb");
    cr_assert(ne(ptr, to, NULL));
    cr_assert(eq(sz, fwrite(f->at, 1, sizeof f->at, to), sizeof f->at));
    fclose(to);
}

/* f has a row behind its end. */
static inline void write_bad(const char *name, bool relocatable)
{
    static struct file f;

    file_make(&f, &(struct file_plan){
                      .version = 1, .abi = SFB_ABI_AMD64_LE, .relocatable = relocatable });
    file_set(&f, FILE_SFRAME_AT + f.row[0][2], 1, 0x40);
    write_file(name, &f);
}

#endif
