#include "lws_decode.h"

#include <inttypes.h>
#include <stdio.h>

#include "input.h"
#include "lws_lines.h"

static bool print(void *user, const struct lws_note *note)
{
    (void)user;
    printf("~b#size: %" PRIu64 ",", note->size);
    for (unsigned i = 0; i < note->depth; i++)
        printf(" 0x%" PRIx64, note->frames[i]);
    putchar('\n');
    return true;
}

enum tool_exit lws_decode(const char *path, enum lws_dialect dialect)
{
    enum tool_exit exit_status;
    struct input input;

    if (!input_read(&input, path))
        return TOOL_USAGE;
    exit_status = lws_lines_each(&input, dialect, print, NULL);
    input_free(&input);
    return exit_status;
}
