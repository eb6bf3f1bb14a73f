#include "cli/report/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/report/hits.h"
#include "cli/report/progress.h"
#include "cli/tool_reporter.h"
#include "profiler/report/formats/apitrace_calls.h"
#include "profiler/report/formats/callgrind.h"
#include "profiler/report/formats/cpuprofile.h"
#include "profiler/report/formats/dhat.h"
#include "profiler/report/formats/firefox.h"
#include "profiler/report/formats/folded.h"
#include "profiler/report/formats/gperftools.h"
#include "profiler/report/formats/gzip.h"
#include "profiler/report/formats/heaptrack.h"
#include "profiler/report/formats/memory_rows.h"
#include "profiler/report/formats/otlp.h"
#include "profiler/report/formats/perf_script.h"
#include "profiler/report/formats/pprof.h"
#include "profiler/report/formats/rows.h"
#include "profiler/report/formats/speedscope.h"
#include "profiler/report/formats/time_line.h"
#include "profiler/report/formats/trace_events.h"
#include "profiler/report/page/html.h"
#include "util/output.h"

const struct report_output report_outputs[REPORT_OUTPUTS] = {
    [REPORT_OUTPUT_HTML] = { .groups = true, .write = report_html_write },
    [REPORT_OUTPUT_PPROF] = { .groups = true, .write = report_pprof_write },
    [REPORT_OUTPUT_OTLP] = { .packs = true, .write = report_otlp_write },
    [REPORT_OUTPUT_FOLDED] = { .write = report_folded_write },
    [REPORT_OUTPUT_FOLDED_NS] = { .write = report_folded_ns_write },
    [REPORT_OUTPUT_SPEEDSCOPE] = { .groups = true, .write = report_speedscope_write },
    [REPORT_OUTPUT_FIREFOX] = { .refuses = report_time_line_refuses,
                                .write = report_firefox_write },
    [REPORT_OUTPUT_CPUPROFILE] = { .refuses = report_time_line_refuses,
                                   .write = report_cpuprofile_write },
    [REPORT_OUTPUT_CHROME_TRACE] = { .refuses = report_time_line_refuses,
                                     .write = report_trace_events_write },
    [REPORT_OUTPUT_PERF_SCRIPT] = { .refuses = report_time_line_refuses,
                                    .write = report_perf_script_write },
    [REPORT_OUTPUT_CALLGRIND] = { .write = report_callgrind_write },
    [REPORT_OUTPUT_APITRACE_CALLS] = { .refuses = report_apitrace_calls_refuses,
                                       .write = report_apitrace_calls_write },
    [REPORT_OUTPUT_DHAT] = { .refuses = report_dhat_refuses, .write = report_dhat_write },
    [REPORT_OUTPUT_HEAPTRACK] = { .one_process = true,
                                  .packs = true,
                                  .refuses = report_heaptrack_refuses,
                                  .write = report_heaptrack_write },
    [REPORT_OUTPUT_GPERFTOOLS] = { .refuses = report_gperftools_refuses,
                                   .write = report_gperftools_write },
    [REPORT_OUTPUT_ROWS] = { .groups = true, .write = report_rows_write },
    [REPORT_OUTPUT_MEMORY_ROWS] = { .refuses = report_memory_rows_refuses,
                                    .write = report_memory_rows_write },
};

static enum tool_exit no_memory(void)
{
    return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
}

/* What a shell's `>` would give it. */
static unsigned usual_mode(void)
{
    const mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

static bool is_packed(const struct report_output *output, const char *path)
{
    const size_t size = strlen(path);

    return output->packs && size > 3 && strcmp(path + size - 3, ".gz") == 0;
}

/* One file, of a model. */
struct writing {
    const struct report_output *output;
    const struct report_model *model;
    bool packed;
};

static ssize_t packed_write(void *cookie, const char *bytes, size_t count)
{
    report_gzip_put(cookie, bytes, count);
    return (ssize_t)count;
}

/* @return false: no memory */
static bool write_packed(const struct writing *w, FILE *to)
{
    struct report_gzip *gzip = report_gzip_open(to);
    FILE *stream =
        gzip ? fopencookie(gzip, "w", (cookie_io_functions_t){ .write = packed_write }) : NULL;
    bool good = stream && w->output->write(stream, w->model);

    if (stream && fclose(stream) != 0)
        good = false;
    report_gzip_close(gzip);
    return good;
}

/* As bytes come they go to the file: the text of a million stacks is larger than all that is known of them. */
static bool write_bytes(void *user, int fd)
{
    const struct writing *w = user;
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *to = own >= 0 ? fdopen(own, "w") : NULL;
    bool good;
    int cause;

    if (!to)
        return false;
    errno = 0;
    good = w->packed ? write_packed(w, to) : w->output->write(to, w->model);
    cause = errno ? errno : EIO;
    if (!good)
        cause = ferror(to) ? cause : ENOMEM;
    else if (ferror(to) != 0)
        good = false;
    if (fclose(to) != 0 && good) {
        good = false;
        cause = errno;
    }
    errno = cause;
    return good;
}

static enum tool_exit write_file(const struct report_output *output, const char *path,
                                 const struct report_model *model)
{
    struct writing w = { output, model, is_packed(output, path) };

    report_progress_note("writing", path, 1, 1);
    return output_write_stream(path, usual_mode(), write_bytes, &w, &tool_complaints) ? TOOL_DONE
                                                                                      : TOOL_USAGE;
}

enum tool_exit report_outputs_write(const struct report_request *r,
                                    const struct report_model *model)
{
    enum tool_exit exit_status = TOOL_DONE;

    for (size_t i = 0; i < REPORT_OUTPUTS; i++) {
        const struct report_output *output = &report_outputs[i];
        const char *option = tool_option_name(r->command, OPTION_OUTPUT + (int)i), *cause;

        if (!r->outputs[i])
            continue;
        if (output->one_process && !report_hits_one_process(option, model)) {
            exit_status = TOOL_USAGE;
            continue;
        }
        cause = output->refuses ? output->refuses(model) : NULL;
        if (cause)
            exit_status =
                tool_worse(exit_status, tool_complain(TOOL_USAGE, "--%s: %s", option, cause));
        else if (strcmp(r->outputs[i], "-") != 0)
            exit_status = tool_worse(exit_status, write_file(output, r->outputs[i], model));
        else if (!output->write(stdout, model))
            exit_status = tool_worse(exit_status, no_memory());
    }
    return exit_status;
}
