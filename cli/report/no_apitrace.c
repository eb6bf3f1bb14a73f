/* A build without libsnappy reads no traces of apitrace. */
#include "cli/report/apitrace_input.h"

#include <stddef.h>
#include <string.h>

#include "util/input.h"

int report_apitrace_open(struct apitrace_input **out, const char *path, enum tool_exit *exit_status)
{
    struct input input;

    (void)out;
    if (input_open(&input, path) == NULL && input.size > 2 && memcmp(input.data, "at", 2) == 0)
        *exit_status = tool_complain(TOOL_USAGE,
                                     "%s: this build does not read traces of apitrace: CMake did "
                                     "not find snappy. On Debian: apt install libsnappy-dev",
                                     path);
    input_free(&input);
    return -1;
}

struct report_namer report_apitrace_namer(const struct apitrace_input *input)
{
    (void)input; /* NULL */
    return (struct report_namer){ .user = NULL };
}

void report_apitrace_close(struct apitrace_input *input)
{
    (void)input;
}
