#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/run.h"
#include "support/test.h"

static char folder[] = "/tmp/sfb-test.XXXXXX";

void folder_enter(void)
{
    cr_assert(ne(ptr, mkdtemp(folder), NULL));
    cr_assert(eq(int, chdir(folder), 0));
}

void folder_remove(void)
{
    struct run run = run_line("rm -rf '%s'", folder);

    run_free(&run);
}

const char *folder_path(void)
{
    return folder;
}

void folder_write(const char *name, const char *text)
{
    FILE *to = fopen(name, "w");

    cr_assert(ne(ptr, to, NULL), "%s", name);
    fputs(text, to);
    cr_assert(eq(int, fclose(to), 0));
}
