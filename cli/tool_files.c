#include "cli/tool_files.h"

#include <string.h>

#include "cli/tool.h"
#include "cli/tool_reporter.h"

bool tool_read(struct input *out, const char *path)
{
    struct input input;
    const char *cause = input_open(&input, path);

    if (cause) {
        tool_complain(TOOL_USAGE, "%s: %s", input.name, cause);
        return false;
    }
    *out = input;
    return true;
}

bool tool_read_hex(struct input *input)
{
    size_t offset;
    const char *cause = input_from_hex(input, &offset);

    if (cause)
        tool_complain(TOOL_BAD_DATA, "%s: text+0x%zx: %s", input->name, offset, cause);
    return !cause;
}

bool tool_write(const char *path, unsigned mode, const struct output_part *parts, size_t count)
{
    if (strcmp(path, "-") == 0 && !tool_flush())
        return false;
    return output_write(path, mode, parts, count, &tool_complaints);
}
