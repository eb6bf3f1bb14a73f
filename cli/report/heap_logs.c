#include "cli/report/heap_logs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/heap_overruns.h"
#include "cli/tool_reporter.h"
#include "profiler/collector/live/heap_log.h"
#include "profiler/collector/live/heap_recording.h"

/* @return SFB_OK, or why there is no recording */
static enum sfb_status convert(const struct report_request *r, const struct heap_log *log, int fd,
                               struct symbols *symbols, enum tool_exit *exit_status)
{
    struct sfb_live_visitor writer, visitor;
    struct heap_recording recording;
    struct heap_overruns overruns = { .exit_status = TOOL_DONE };
    enum sfb_status status;

    heap_recording_begin(&recording, fd, &writer);
    visitor = writer;
    if (r->view != REPORT_VIEW_NONE)
        heap_overruns_begin(&overruns, symbols, r->names, &writer, &visitor);
    heap_log_visit(log, &visitor);
    status = heap_recording_end(&recording);
    if (r->view != REPORT_VIEW_NONE) {
        *exit_status = tool_worse(*exit_status, overruns.exit_status);
        heap_overruns_end(&overruns);
    }
    return status;
}

int report_log_open(const struct report_request *r, const char *path, struct symbols *symbols,
                    enum tool_exit *exit_status)
{
    const struct reporter reporter = tool_reporter(exit_status);
    struct input input;
    struct heap_log *log = NULL;
    enum sfb_status status;
    int fd = -1;

    if (input_open(&input, path) == NULL && heap_log_is_in(&input)) {
        log = heap_log_read(&input, &reporter);
        fd = log ? memfd_create("sfb-report", MFD_CLOEXEC) : -1;
        if (log && fd < 0)
            *exit_status = tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno));
    }
    input_free(&input);
    if (fd >= 0) {
        status = convert(r, log, fd, symbols, exit_status);
        if (status != SFB_OK) {
            *exit_status = tool_complain(TOOL_BAD_DATA, "%s: no dump in it can be read: %s", path,
                                         sfb_status_str(status));
            close(fd);
            fd = -1;
        }
    }
    heap_log_free(log);
    return fd;
}
