#include "cli/report/apitrace_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/apitrace/apitrace_recording.h"
#include "util/counted.h"
#include "util/input.h"

struct apitrace_input {
    struct apitrace trace;
};

static void tell(const struct apitrace_totals *totals, const char *path,
                 enum tool_exit *exit_status)
{
    if (totals->fault[0])
        *exit_status = tool_complain(TOOL_BAD_DATA, "%s: %s", path, totals->fault);
    if (totals->bare > 0)
        tool_complain(TOOL_DONE,
                      "%s: %s without a stack: APITRACE_BACKTRACE='*' apitrace trace takes them",
                      path, counted(totals->bare, "calls are").text);
}

/* @return when a file was written, ns since 1970 */
static uint64_t time_of(const char *path)
{
    struct stat file;

    if (stat(path, &file) != 0 || file.st_mtim.tv_sec < 0)
        return 0;
    return (uint64_t)file.st_mtim.tv_sec * 1000000000U + (uint64_t)file.st_mtim.tv_nsec;
}

/* @return a descriptor; -1: after a complaint */
static int convert(struct apitrace_input *out, const struct input *input, const char *path,
                   enum tool_exit *exit_status)
{
    struct apitrace_totals totals;
    int fd = memfd_create("sfb-report", MFD_CLOEXEC);

    if (fd < 0) {
        *exit_status = tool_complain(TOOL_USAGE, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (!apitrace_record(&out->trace, &totals, input->data, input->size, path, time_of(path), fd)) {
        close(fd);
        fd = -1;
    }
    tell(&totals, path, exit_status);
    return fd;
}

int report_apitrace_open(struct apitrace_input **out, const char *path, enum tool_exit *exit_status)
{
    struct apitrace_input *made;
    struct input input;
    int fd = -1;

    if (input_open(&input, path) == NULL && apitrace_is(input.data, input.size)) {
        made = calloc(1, sizeof *made);
        if (made)
            fd = convert(made, &input, path, exit_status);
        else
            *exit_status = tool_complain(TOOL_USAGE, "%s: %s", path, strerror(ENOMEM));
        if (fd >= 0)
            *out = made;
        else
            report_apitrace_close(made);
    }
    input_free(&input);
    return fd;
}

struct report_namer report_apitrace_namer(const struct apitrace_input *input)
{
    return apitrace_namer(&input->trace);
}

void report_apitrace_close(struct apitrace_input *input)
{
    if (input)
        apitrace_free(&input->trace);
    free(input);
}
