#include "cli/record/outside.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/attach.h"
#include "profiler/collector/processes/tasks.h"
#include "util/base_name.h"
#include "util/counted.h"

struct from_outside {
    const struct record_request *request;
    pid_t pid;                  /* 0: all processes */
    struct record_child *child; /* NULL: nothing was started */
    const char *path;           /* of what was started */
    struct attach *attach;
    struct attach_state chosen; /* at the beginning */
    char why[160];              /* not by perf events */
    struct record_file file;
    struct sfb_recording_writer *writer;
    uint64_t begun, flushed, shown, asked;
    const char *reason;
    int cause; /* errno of the exec */
};

extern char **environ;

static const uint64_t second_ns = 1000000000, shown_every_ns = 200000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

/* A program that was started gets what is typed, and the first signal. */
static bool is_interrupted(const struct record_child *child)
{
    return child ? record_signals_sent() > 1 : record_signals_sent() + record_signals_typed() > 0;
}

/* --- Its beginning -------------------------------------------------------------------------------------- */

/* @return false after a complaint */
static bool is_there(const struct record_request *request)
{
    struct sfb_recorder_task task;

    if (request->pid == 0 ||
        (!sfb_recorder_task_has_ended(request->pid) && sfb_recorder_task_read(&task, request->pid)))
        return true;
    tool_complain(TOOL_FAILED, "record: there is no process %d", (int)request->pid);
    return false;
}

static bool choose(struct from_outside *o)
{
    const struct attach_options how = { .pid = o->pid,
                                        .no_children = o->request->no_children,
                                        .looks = o->request->engine == SFB_ENGINE_LOOKS,
                                        .rate_hz = o->request->rate_hz };
    char *const why = o->why;

    o->attach = attach_open(&how, why, sizeof o->why);
    if (!o->attach) {
        tool_complain(TOOL_FAILED, "record: %s%s", why[0] ? why : "it may not be looked at",
                      errno == EACCES || errno == EPERM
                          ? ": the process is another user's, has other rights, or "
                            "kernel.perf_event_paranoid is above 2"
                          : "");
        return false;
    }
    o->chosen = attach_state(o->attach);
    if (!o->request->kernel || o->chosen.engine == SFB_ENGINE_OUTSIDE)
        return true;
    tool_complain(TOOL_FAILED, "record: --kernel: kernel time may not be sampled: run as root, or "
                               "sysctl kernel.perf_event_paranoid=1");
    return false;
}

/* Events are descriptors: one for each thread and CPU. */
static void raise_limit(void)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
}

/* @return false: interrupted */
static bool delay(const struct record_request *request)
{
    const uint64_t end = now_ns() + request->delay_ns;

    for (uint64_t now = now_ns(); now < end && !is_interrupted(NULL); now = now_ns())
        poll(NULL, 0, (int)((end - now) / 1000000 % 1000 + 1));
    return !is_interrupted(NULL);
}

static void describe(const struct from_outside *o, char *out, size_t size)
{
    const char *what = o->child      ? "no agent can be loaded into the program"
                       : o->pid != 0 ? "a process that ran already"
                                     : "all processes";

    if (o->chosen.engine == SFB_ENGINE_LOOKS)
        snprintf(out, size, "%s%s%s, 100 looks a second", what, o->why[0] ? "; " : "", o->why);
    else
        snprintf(out, size, "%s: %s of stack, %s", what, counted(o->chosen.stack >> 10, "KiB").text,
                 counted(o->chosen.events, "events").text);
}

/* As a part of a file's name. */
static void name_of(const struct from_outside *o, char *out, size_t size)
{
    if (o->child)
        snprintf(out, size, "%s", sfb_base_name(o->path));
    else if (o->pid != 0)
        sfb_recorder_task_name(o->pid, out, size);
    else
        snprintf(out, size, "all");
    for (char *at = out; *at; at++)
        if (*at == '/' || *at == ' ')
            *at = '-';
}

static bool begin(struct from_outside *o)
{
    static char word[32];
    static char *command[] = { word, NULL };
    struct record_request named = *o->request;
    char name[256], text[320];

    name_of(o, name, sizeof name);
    describe(o, text, sizeof text);
    snprintf(word, sizeof word, o->pid != 0 ? "--pid %d" : "--all", (int)o->pid);
    if (!o->child)
        named.arguments = command;
    named.rate_hz = o->chosen.rate_hz;
    if (!record_file_open(&o->file, o->request, name, o->pid != 0 ? o->pid : getpid()))
        return false;
    if (record_writer_open(&o->writer, &o->file, &named, o->chosen.engine, text)) {
        if (attach_begin(o->attach, o->writer))
            return true;
        tool_complain(TOOL_FAILED, "record: %s", strerror(ENOMEM));
    }
    record_file_drop(&o->file);
    return false;
}

/* @return false: it could not be executed, and nothing is recorded */
static bool start(struct from_outside *o)
{
    o->cause = record_child_start(o->child);
    if (o->cause == 0)
        return true;
    waitpid(o->pid, NULL, 0);
    sfb_recording_writer_close(o->writer, now_ns(), NULL);
    record_file_drop(&o->file);
    return false;
}

/* --- While it runs -------------------------------------------------------------------------------------- */

static void show(struct from_outside *o, uint64_t now)
{
    const struct outside_totals *t = attach_totals(o->attach);
    const struct sfb_recorder_totals totals = { .samples = t->samples,
                                                .lost = { [SFB_LOSS_RING_FULL] = t->lost } };

    if (now - o->shown < shown_every_ns)
        return;
    record_progress(o->request, &totals, sfb_recording_writer_size(o->writer), now - o->begun);
    o->shown = now;
}

static const char *ended(const struct from_outside *o)
{
    return o->child ? "the program ended" : "the process ended";
}

/* /proc is asked ten times a second. */
static bool has_ended(struct from_outside *o, uint64_t now)
{
    if (now - o->asked < second_ns / 10)
        return false;
    o->asked = now;
    return attach_has_ended(o->attach);
}

static void record(struct from_outside *o)
{
    const uint64_t duration = o->request->duration_ns;

    o->begun = o->flushed = o->shown = now_ns();
    while (!o->reason) {
        bool good = attach_take(o->attach);
        const uint64_t now = now_ns();

        if (good && now - o->flushed > second_ns) {
            good = sfb_recording_writer_flush(o->writer) == SFB_OK;
            o->flushed = now;
        }
        show(o, now);
        o->reason = !good                                        ? "it could not be written"
                    : has_ended(o, now)                          ? ended(o)
                    : is_interrupted(o->child)                   ? "interrupted"
                    : duration > 0 && now - o->begun >= duration ? "--duration"
                                                                 : NULL;
    }
}

/* --- Its end -------------------------------------------------------------------------------------------- */

static void put_loss(struct sfb_recording_writer *writer, uint32_t reason, uint64_t count,
                     const char *text)
{
    const struct sfb_recording_losses event = { .reason = reason, .count = count, .text = text };

    if (count > 0)
        sfb_recording_put_losses(writer, &event);
}

/* What the recording has not stands in it, and in the lines at the end. */
static void put_losses(struct from_outside *o, const struct outside_totals *t,
                       struct sfb_recorder_totals *out)
{
    const struct attach_state state = attach_state(o->attach);

    out->lost[SFB_LOSS_RING_FULL] = t->lost;
    out->lost[SFB_LOSS_BAD_RING] = t->unreadable;
    out->lost[SFB_LOSS_NO_TIMER] = state.refused;
    out->lost[SFB_LOSS_RATE] = state.slowed;
    put_loss(o->writer, SFB_LOSS_RING_FULL, t->lost, "the kernel dropped them");
    put_loss(o->writer, SFB_LOSS_BAD_RING, t->unreadable, "damaged records");
    put_loss(o->writer, SFB_LOSS_NO_TIMER, state.refused, "no event: no rights, or no descriptor");
    put_loss(o->writer, SFB_LOSS_NOT_FOLLOWED, state.raised,
             "a set-user-ID program: the kernel ends the events of ordinary users at its exec");
    put_loss(o->writer, SFB_LOSS_RATE, state.slowed, "the kernel dropped samples");
}

static const char *explain_nothing(const struct outside_totals *t)
{
    static char text[160];

    snprintf(text, sizeof text, "nothing used CPU time while it was recorded%s",
             t->lost > 0 ? ", or all was dropped" : "");
    return text;
}

static double own_cpu(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void tell(const struct from_outside *o, const struct outside_totals *t)
{
    const struct attach_state state = attach_state(o->attach);

    if (o->request->quiet)
        return;
    if (state.engine == SFB_ENGINE_LOOKS)
        fprintf(stderr, "sfb: by looks%s%s: %s, %.2f CPU seconds of sfb\n",
                o->why[0] ? ", for " : "", o->why, counted(state.stops, "stops of a thread").text,
                own_cpu());
    if (state.raised > 0)
        fprintf(stderr,
                "sfb: %s of set-user-ID programs, where the kernel ends the events of this user: "
                "as root "
                "they are recorded\n",
                counted(state.raised, "execs").text);
    if (t->unsampled > t->cpu / 100)
        fprintf(stderr, "sfb: %.2f of %.2f CPU seconds are in no sample%s\n",
                (double)t->unsampled / 1e9, (double)t->cpu / 1e9,
                state.engine == SFB_ENGINE_OUTSIDE_USER
                    ? ": kernel time, which this user may not sample"
                    : "");
    if (t->cut > 0)
        fprintf(stderr, "sfb: %s longer than the copied %s\n", counted(t->cut, "stacks were").text,
                counted(state.stack >> 10, "KiB").text);
}

static enum tool_exit end(struct from_outside *o)
{
    struct record_outcome outcome = { .file = o->file.name };
    struct outside_totals t = { .samples = 0 };
    struct sfb_recorder_totals *totals = &outcome.totals;
    struct stat file;

    attach_end(o->attach, &t);
    put_losses(o, &t, totals);
    record_progress_end();
    totals->samples = t.samples;
    totals->weight = t.weight;
    totals->processes = t.processes;
    totals->threads = t.threads;
    totals->cpu = t.cpu;
    if (t.samples == 0)
        outcome.nothing = explain_nothing(&t);
    sfb_recording_writer_flush(o->writer);
    outcome.error = sfb_recording_writer_errno(o->writer);
    outcome.limited = outcome.error == EFBIG && o->request->max_size > 0;
    if (sfb_recording_writer_close(o->writer, now_ns(),
                                   outcome.limited ? "--max-size" : o->reason) != SFB_OK &&
        outcome.error == 0)
        outcome.error = errno != 0 ? errno : EIO;
    if (fstat(o->file.fd, &file) == 0)
        outcome.size = (uint64_t)file.st_size;
    if (close(o->file.fd) != 0 && outcome.error == 0)
        outcome.error = errno;
    record_summary(o->request, &outcome);
    tell(o, &t);
    return outcome.error != 0 && !outcome.limited ? TOOL_FAILED : TOOL_DONE;
}

/* @return TOOL_FAILED after a complaint */
static enum tool_exit record_and_end(struct from_outside *o)
{
    enum tool_exit exit_status = TOOL_FAILED;

    raise_limit();
    /* It needs little, but in time: rings fill up meanwhile. */
    if (setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) - 10) != 0)
        errno = 0;
    if (choose(o) && begin(o)) {
        if (!o->child || start(o)) {
            record(o);
            exit_status = end(o);
        }
    } else if (o->child) {
        record_child_drop(o->child);
    }
    if (o->attach)
        attach_close(o->attach);
    return exit_status;
}

int record_outside(const struct record_request *request)
{
    struct from_outside o = { .request = request, .pid = request->pid, .file = { .fd = -1 } };

    if (!is_there(request))
        return TOOL_FAILED;
    record_signals_catch(0);
    return delay(request) ? (int)record_and_end(&o) : (int)TOOL_DONE;
}

int record_outside_program(const struct record_request *request, const char *path)
{
    struct record_child child;
    struct from_outside o = {
        .request = request, .child = &child, .path = path, .file = { .fd = -1 }
    };
    enum tool_exit recorded;
    int status = 0;

    if (!record_child_make(&child, path, request->arguments, environ))
        return TOOL_FAILED;
    o.pid = child.pid;
    record_signals_catch(child.pid);
    recorded = record_and_end(&o);
    if (o.cause != 0)
        return (int)tool_complain(o.cause == ENOENT ? TOOL_NOT_FOUND : TOOL_NOT_EXECUTABLE,
                                  "record: %s: %s", path, strerror(o.cause));
    if (recorded != TOOL_DONE && !o.reason)
        return (int)recorded;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR && record_signals_sent() <= 1) {
    }
    record_crash_line(status);
    return recorded != TOOL_DONE ? (int)recorded
           : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                 : WEXITSTATUS(status);
}
