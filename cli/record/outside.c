#include "cli/record/outside.h"
#include "cli/record/controlled.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/attach.h"
#include "profiler/collector/processes/tasks.h"
#include "profiler/collector/rings/control.h"
#include "util/base_name.h"
#include "util/counted.h"

struct from_outside {
    const struct record_request *request;
    pid_t pid;                  /* 0: all processes */
    struct record_child *child; /* NULL: nothing was started */
    const char *path;           /* of what was started */
    bool runs;                  /* it executes its program already */
    bool keeps;                 /* it is executed even if it cannot be recorded */
    struct attach *attach;
    struct attach_state chosen; /* at the beginning */
    char why[400];              /* not by perf events */
    struct record_file file;
    struct sfb_recording_writer *writer;
    uint64_t begun, flushed, shown, asked;
    const char *reason;
    int cause; /* errno of the exec */
    struct record_pauses pauses;
    uint64_t used_before,
        used; /* of a process that ran already: CPU time with that of its children */
};

extern char **environ;

static const uint64_t second_ns = 1000000000, shown_every_ns = 200000000,
                      unseen_least_ns = 10000000, slice_ns = 100000,
                      unseen_ticks_ns = 50000000; /* four sums, each as exact as a tick */

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
bool outside_is_there(const struct record_request *request)
{
    struct sfb_recorder_task task;

    if (request->pid == 0 ||
        (!sfb_recorder_task_has_ended(request->pid) && sfb_recorder_task_read(&task, request->pid)))
        return true;
    tool_complain(TOOL_FAILED, "record: there is no process %d", (int)request->pid);
    return false;
}

/* At its end it has no memory, a moment before the kernel says that it has ended. */
static bool is_ending(pid_t pid)
{
    uint64_t bytes;

    return sfb_recorder_task_has_ended(pid) || !sfb_recorder_process_resident(pid, &bytes);
}

static bool choose(struct from_outside *o)
{
    const struct attach_options how = { .pid = o->pid,
                                        .starts = o->child != NULL,
                                        .no_children = o->request->no_children,
                                        .looks = o->request->engine == SFB_ENGINE_LOOKS,
                                        .wall_hz = o->request->wall_hz,
                                        .no_switches = o->request->engine == SFB_ENGINE_LOOKS,
                                        .rate_hz = o->request->rate_hz };
    char *const why = o->why;

    o->attach = attach_open(&how, why, sizeof o->why);
    /* Between two recordings. */
    if (!o->attach && o->keeps && o->pid != 0 && (errno == ESRCH || is_ending(o->pid)))
        return false;
    if (!o->attach) {
        tool_complain(TOOL_FAILED, "record: %s", why[0] ? why : "it may not be looked at");
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

/* What says when threads wait, beside looks. */
static const char *exact_by(const struct attach_state *state)
{
    return state->wakers     ? "switch records with stacks and wakers, and "
           : state->stacks   ? "switch records with stacks, and "
           : state->switches ? "switch records and "
                             : "";
}

static void describe(const struct from_outside *o, char *out, size_t size)
{
    const char *what = o->keeps                              ? "one recording after another"
                       : o->child && o->request->wall_hz > 0 ? "CPU time and waits"
                       : o->child    ? "no agent can be loaded into the program"
                       : o->pid != 0 ? "a process that ran already"
                                     : "all processes";

    if (o->chosen.engine == SFB_ENGINE_LOOKS)
        snprintf(out, size, "%s%s%s, %s%u looks a second", what, o->why[0] ? "; " : "", o->why,
                 exact_by(&o->chosen), o->chosen.rate_hz);
    else
        snprintf(out, size, "%s: %s of stack, %s", what, counted(o->chosen.stack >> 10, "KiB").text,
                 o->chosen.events > 0 ? counted(o->chosen.events, "events").text
                                      : "an event of each CPU");
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

static bool pause_recording(void *user, bool paused)
{
    struct from_outside *o = user;
    const struct sfb_recording_pause event = { .time = now_ns(), .paused = paused };

    record_pauses_set(&o->pauses, paused, o->pid != 0 ? record_used_by_tree(o->pid, true) : 0);
    return attach_pause(o->attach, paused) && sfb_recording_put_pause(o->writer, &event) == SFB_OK;
}

static bool begin(struct from_outside *o)
{
    static char word[32];
    static char *command[] = { word, NULL };
    struct record_request named = *o->request;
    char name[256], text[640];

    name_of(o, name, sizeof name);
    describe(o, text, sizeof text);
    snprintf(word, sizeof word, o->pid != 0 ? "--pid %d" : "--all", (int)o->pid);
    if (!o->child)
        named.arguments = command;
    named.rate_hz = o->chosen.rate_hz;
    if (!record_file_open(&o->file, o->request, name, o->pid != 0 ? o->pid : getpid()))
        return false;
    if (record_writer_open(&o->writer, &o->file, &named, o->chosen.engine, text)) {
        if (attach_begin(o->attach, o->writer) &&
            (!o->request->paused || pause_recording(o, true))) {
            o->pauses.ran = false; /* up to now there was nothing to record */
            return true;
        }
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
                                                .waited = t->waited,
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

/* Its last state counts: its number says nothing more when its parent has waited for it. */
static void note_used(struct from_outside *o)
{
    uint64_t used;

    if (o->pid != 0 && !o->child && sfb_recorder_process_waited_cpu(o->pid, &used) &&
        used > o->used)
        o->used = used;
}

/* /proc is asked ten times a second. */
static bool has_ended(struct from_outside *o, uint64_t now)
{
    if (now - o->asked < second_ns / 10)
        return false;
    o->asked = now;
    note_used(o);
    return attach_has_ended(o->attach);
}

static bool knows(void *user, pid_t pid)
{
    const struct from_outside *o = user;

    return record_controls(o->pid, pid) || attach_knows(o->attach, pid);
}

static void record(struct from_outside *o)
{
    const uint64_t duration = o->request->duration_ns;
    const struct sfb_recorder_controlled controlled = { .writer = o->writer,
                                                        .wide = o->pid == 0,
                                                        .waits = o->request->wall_hz > 0,
                                                        .file = o->file.name,
                                                        .knows = knows,
                                                        .pause = o->keeps ? NULL : pause_recording,
                                                        .user = o };
    struct sfb_recorder_control control;

    sfb_recorder_control_open(&control, o->pauses.paused);
    /* That of children that run already counts as used before: it may come, too. */
    o->used_before = o->pid != 0 && !o->child ? record_used_by_tree(o->pid, true) : 0;
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
        sfb_recorder_control_take(&control, &controlled);
    }
    sfb_recorder_control_close(&control);
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

    out->lost[SFB_LOSS_RING_FULL] = t->lost + state.lost;
    out->lost[SFB_LOSS_BAD_RING] = t->unreadable;
    out->lost[SFB_LOSS_NO_TIMER] = state.refused;
    out->lost[SFB_LOSS_NO_PROCESS] = state.skipped;
    out->lost[SFB_LOSS_RATE] = state.slowed;
    put_loss(o->writer, SFB_LOSS_RING_FULL, t->lost, "the kernel dropped them");
    put_loss(o->writer, SFB_LOSS_RING_FULL, state.lost,
             "switch records that the kernel dropped: those waits are by looks");
    put_loss(o->writer, SFB_LOSS_BAD_RING, t->unreadable, "damaged records");
    put_loss(o->writer, SFB_LOSS_NO_TIMER, state.refused, "no event: no rights, or no descriptor");
    put_loss(o->writer, SFB_LOSS_NO_TIMER, state.unread,
             "no descriptor at their beginning or end: a part of their time is missing");
    put_loss(o->writer, SFB_LOSS_NO_PROCESS, state.skipped,
             "no descriptor: a larger ulimit -n has room for them");
    put_loss(o->writer, SFB_LOSS_NOT_FOLLOWED, state.raised,
             "a set-user-ID program: the kernel ends the events of ordinary users at its exec");
    put_loss(o->writer, SFB_LOSS_NOT_FOLLOWED, state.unseen,
             "about so many came and went between two looks");
    put_loss(o->writer, SFB_LOSS_RATE, state.slowed, "the kernel dropped samples");
    put_loss(o->writer, SFB_LOSS_LOOKS, state.by_looks, "they waited too often for records of it");
    put_loss(o->writer, SFB_LOSS_LOOKS, state.no_events,
             "no records of waits: ulimit -n, or rights");
}

/* CPU time of the program, which has ended, and of what it started and waited for. It stays to be waited for. */
static uint64_t used_ns(pid_t pid)
{
    struct rusage u = { .ru_utime.tv_sec = 0 };
    siginfo_t info;

    /* The library's function leaves out the kernel's last parameter. */
    if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, &u) != 0)
        return 0;
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * second_ns +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/*
 * Looks miss what comes and goes between two of them, and events of an ordinary user the kernel time of processes that have
 * ended: only the kernel's sum has it.
 */
static void account(struct from_outside *o, const struct outside_totals *t,
                    struct record_outcome *out)
{
    const bool looks = o->chosen.engine == SFB_ENGINE_LOOKS,
               sums = !o->keeps && !o->request->no_children,
               whole = sums && looks && o->child && strcmp(o->reason, ended(o)) == 0;
    const uint64_t used = whole                                           ? used_ns(o->pid)
                          : sums && !o->child && o->used > o->used_before ? o->used - o->used_before
                                                                          : 0;
    /* Of a process that another one has waited for, samples alone are known. */
    const uint64_t seen = t->cpu > t->weight ? t->cpu : t->weight;
    const uint64_t passed =
        seen + record_pauses_end(&o->pauses, o->child ? used_ns(o->pid) : o->used);
    const uint64_t missing = used > passed ? used - passed : 0;

    if (missing < (o->child ? unseen_least_ns : unseen_ticks_ns) || missing < used / 100)
        return;
    out->totals.lost[SFB_LOSS_CPU] = missing / 1000000;
    snprintf(out->unrecorded, sizeof out->unrecorded, "all used %" PRIu64 " ms; the rest by %s",
             used / 1000000,
             looks ? "programs, or ends of them, between two looks"
                   : "processes that have ended, where no sample shows it");
    put_loss(o->writer, SFB_LOSS_CPU, missing / 1000000, out->unrecorded);
}

static const char *explain_nothing(const struct from_outside *o, const struct outside_totals *t)
{
    const bool unseen = o->child && t->processes == 0;
    static char text[160];

    if (o->pauses.paused && !o->pauses.ran)
        snprintf(text, sizeof text, "it was paused up to its end: see sfb ctl PID start");
    else if (unseen)
        snprintf(text, sizeof text, "the program ended before a look found it");
    else
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
    if (o->request->wall_hz > 0)
        fprintf(stderr, "sfb: waits by %s%s\n", exact_by(&state),
                counted(state.rounds, "looks at all threads").text);
    if (state.by_looks > 0)
        fprintf(stderr, "sfb: %s too often for records of it: by looks alone\n",
                counted(state.by_looks, "threads waited").text);
    if (state.no_events > 0)
        fprintf(stderr, "sfb: %s no records of waits (ulimit -n, or rights): by looks alone\n",
                counted(state.no_events, "threads have").text);
    if (state.python[0])
        fprintf(stderr, "sfb: functions of %s are shown as C: --engine looks reads them\n",
                state.python);
    if (state.unread > 0)
        fprintf(stderr, "sfb: %s not all of their time: no descriptor was left (ulimit -n)\n",
                counted(state.unread, "threads have").text);
    if (state.skipped > 0)
        fprintf(stderr, "sfb: %s not looked at: no descriptor was left (ulimit -n)\n",
                counted(state.skipped, "processes were").text);
    if (state.unseen > 0)
        fprintf(stderr, "sfb: about %s came and went between two looks\n",
                counted(state.unseen, "processes").text);
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
    if (t->cut > 0 && state.stack > 0)
        fprintf(stderr, "sfb: %s longer than the copied %s\n", counted(t->cut, "stacks were").text,
                counted(state.stack >> 10, "KiB").text);
    else if (t->cut > 0)
        fprintf(stderr, "sfb: %s longer than the part that was copied\n",
                counted(t->cut, "stacks were").text);
}

static enum tool_exit end(struct from_outside *o)
{
    struct record_outcome outcome = { .file = o->file.name };
    struct outside_totals t = { .samples = 0 };
    struct sfb_recorder_totals *totals = &outcome.totals;
    char reason[256];
    struct stat file;

    attach_end(o->attach, &t);
    put_losses(o, &t, totals);
    record_progress_end();
    totals->processes = t.processes;
    totals->threads = t.threads;
    totals->cpu = t.cpu;
    note_used(o);
    account(o, &t, &outcome);
    if (t.samples + t.waits == 0)
        outcome.nothing = explain_nothing(o, &t);
    sfb_recording_writer_flush(o->writer);
    totals->samples = sfb_recording_writer_samples(o->writer, &totals->weight);
    totals->waited = sfb_recording_writer_waited(o->writer);
    outcome.unwritten = t.samples - totals->samples;
    outcome.error = sfb_recording_writer_errno(o->writer);
    outcome.limited = outcome.error == EFBIG && o->request->max_size > 0;
    snprintf(reason, sizeof reason, "%s%s%s", outcome.limited ? "--max-size" : o->reason,
             outcome.nothing ? "; no samples: " : "", outcome.nothing ? outcome.nothing : "");
    if (sfb_recording_writer_close(o->writer, now_ns(), reason) != SFB_OK && outcome.error == 0)
        outcome.error = errno != 0 ? errno : EIO;
    if (fstat(o->file.fd, &file) == 0)
        outcome.size = (uint64_t)file.st_size;
    if (close(o->file.fd) != 0 && outcome.error == 0)
        outcome.error = errno;
    record_summary(o->request, &outcome);
    tell(o, &t);
    return outcome.error != 0 && !outcome.limited ? TOOL_FAILED : TOOL_DONE;
}

/*
 * It needs little, but in time: rings fill up meanwhile, and a look must see a thread where the timer has found it, not where
 * its slice ends. From Linux 6.12 on a thread whose slice is short gets the CPU at once. What cannot be had is done without.
 */
static void ask_for_time(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice, deadline, period;
    } attr = { .size = sizeof attr };
    const int before = errno;

    /* A scheduling class that the user chose stays. */
    if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) != 0 || attr.policy != SCHED_OTHER) {
        errno = before;
        return;
    }
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) - 10);
    attr.nice = getpriority(PRIO_PROCESS, 0);
    attr.slice = slice_ns;
    syscall(SYS_sched_setattr, 0, &attr, 0);
    errno = before;
}

/* @return TOOL_FAILED after a complaint */
static enum tool_exit record_and_end(struct from_outside *o)
{
    enum tool_exit exit_status = TOOL_FAILED;

    raise_limit();
    ask_for_time();
    if (choose(o) && begin(o)) {
        if (!o->child || o->runs || start(o)) {
            record(o);
            exit_status = end(o);
        }
    } else if (o->child && !o->runs && !o->keeps) {
        record_child_drop(o->child);
    }
    if (o->attach)
        attach_close(o->attach);
    return exit_status;
}

int record_outside(const struct record_request *request)
{
    struct from_outside o = { .request = request, .pid = request->pid, .file = { .fd = -1 } };

    if (!outside_is_there(request))
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

/* --- One after another ----------------------------------------------------------------------------------- */

void record_outside_part(const struct record_request *request, struct outside_part *part)
{
    struct from_outside o = { .request = request,
                              .pid = part->pid,
                              .child = part->child,
                              .path = part->path,
                              .runs = part->runs,
                              .keeps = true,
                              .file = { .fd = -1 } };

    part->failed = record_and_end(&o) != TOOL_DONE;
    /* A program runs whether it can be recorded or not. */
    if (part->child && !part->runs && o.cause == 0 && !o.reason)
        o.cause = record_child_start(part->child);
    part->runs = part->child != NULL;
    part->cause = o.cause;
    part->ended =
        o.reason && (strcmp(o.reason, "interrupted") == 0 || strcmp(o.reason, ended(&o)) == 0);
}

bool outside_part_is_over(const struct outside_part *part)
{
    return part->ended || part->cause != 0 || is_interrupted(part->child) ||
           (part->pid != 0 && sfb_recorder_task_has_ended(part->pid));
}
