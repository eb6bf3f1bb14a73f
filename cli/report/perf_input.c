#include "cli/report/perf_input.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/collector/outside/perf_file.h"
#include "profiler/collector/outside/perf_import.h"
#include "util/counted.h"
#include "util/input.h"

/* What the recording cannot say itself. */
static void tell(const struct perf_import *import, const char *path, enum tool_exit *exit_status)
{
    if (import->why[0])
        *exit_status = tool_complain(TOOL_BAD_DATA, "%s: %s", path, import->why);
    if (import->other_events > 0)
        tool_complain(TOOL_DONE, "%s: %s of other events left out", path,
                      counted(import->other_events, "samples are").text);
    if (import->totals.cut > 0)
        tool_complain(TOOL_DONE, "%s: %s cut: perf copied less than they have", path,
                      counted(import->totals.cut, "stacks are").text);
}

int report_perf_open(const char *path, enum tool_exit *exit_status)
{
    struct perf_import import;
    struct input input;
    int fd = -1;

    if (input_open(&input, path) == NULL && perf_file_is(input.data, input.size)) {
        fd = memfd_create("sfb-report", MFD_CLOEXEC);
        if (fd < 0)
            *exit_status = tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno));
    }
    if (fd >= 0 && !perf_import(&import, input.data, input.size, path, fd)) {
        *exit_status = tool_complain(TOOL_BAD_DATA, "%s: %s", path, import.why);
        close(fd);
        fd = -1;
    } else if (fd >= 0) {
        tell(&import, path, exit_status);
    }
    input_free(&input);
    return fd;
}
