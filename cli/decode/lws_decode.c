#include "cli/decode/lws_decode.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/tool_files.h"
#include "cli/tool_reporter.h"
#include "contrib/lws/lws_lines.h"

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
    struct input input;
    bool good;

    if (!tool_read(&input, path))
        return TOOL_USAGE;
    good = lws_lines_each(&input, dialect, print, NULL, &tool_complaints);
    input_free(&input);
    return good ? TOOL_DONE : TOOL_BAD_DATA;
}
