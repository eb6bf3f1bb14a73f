/* A build without jansson neither reads nor writes crash logs of Swift. */
#include "cli/symbolize/swift_json.h"

static enum tool_exit refuse(void)
{
    return tool_complain(TOOL_USAGE, "this build has no crash logs of Swift: CMake did not find "
                                     "jansson. On Debian: apt install libjansson-dev");
}

bool swift_json_is(const struct input *input)
{
    (void)input;
    return false;
}

bool swift_json_has(const struct input *input)
{
    (void)input;
    return false;
}

enum tool_exit swift_json_read(const struct stack_print *print, const struct input *input)
{
    (void)print;
    (void)input;
    return refuse();
}

enum tool_exit swift_json_write(const struct stack_print *print, struct backtraces *backtraces)
{
    (void)print;
    (void)backtraces;
    return refuse();
}

enum tool_exit swift_json_write_reports(const struct stack_print *print, const struct input *input,
                                        size_t *count)
{
    (void)print;
    (void)input;
    *count = 1;
    return refuse();
}
