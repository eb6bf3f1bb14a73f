#include "cli/record/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/record/controlled.h"
#include "cli/record/engine.h"
#include "cli/record/limits.h"
#include "profiler/collector/heap/heap_drain.h"
#include "profiler/collector/outside/alongside.h"
#include "profiler/collector/processes/environment.h"
#include "profiler/collector/processes/follow.h"
#include "profiler/collector/rings/control.h"
#include "profiler/collector/rings/drain.h"
#include "profiler/collector/rings/unrecorded.h"
#include "profiler/collector/session/session.h"
#include "util/counted.h"

enum { GRACE_LOOKS = 20 };

static const uint64_t look_ns = 10000000, second_ns = 1000000000, shown_every_ns = 200000000;

extern char **environ;

struct recording {
    const struct record_request *request;
    struct record_engine engine;
    struct sfb_recorder_session session;
    struct record_child child;
    struct record_file file;
    struct sfb_recording_writer *writer;
    struct sfb_recorder_drain *drain;
    struct sfb_recorder_follow *follow;
    struct alongside *alongside; /* NULL: agents alone */
    char why_alone[160];
    struct sfb_recorder_ids ids;
    uint64_t begun, flushed, shown, looked;
    uint64_t used_before; /* CPU time of other children of this command */
    unsigned grace;
    struct record_pauses pauses;
    bool said, over;       /* over: the program has ended */
    unsigned typed_before; /* its end */
    const char *reason;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

/* CPU time of all that has ended and was waited for, by this command or by others that it waited for. */
static uint64_t used_by_children(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * second_ns +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* --- its beginning ------------------------------------------------------------------------------- */

static bool open_session(struct recording *r)
{
    const struct sfb_recorder_session_options options = {
        .mode = r->request->heap ? SFB_SHARED_HEAP : SFB_SHARED_CPU,
        .flags = r->request->no_children ? SFB_SHARED_NO_CHILDREN : 0,
        .rate_hz = r->request->rate_hz,
        .engines = r->engine.agents,
        .heap_rate = r->request->heap_rate,
        .heap_flags = (r->request->heap_mmap ? SFB_SHARED_HEAP_MMAP : 0) |
                      (r->request->heap_wait ? SFB_SHARED_HEAP_WAIT : 0) |
                      (r->request->python_objects ? SFB_SHARED_HEAP_PYTHON_OBJECTS : 0)
    };
    const char *what = sfb_recorder_session_open(&r->session, &options);

    if (what)
        tool_complain(TOOL_FAILED, "record: %s: %s", what, strerror(errno));
    return what == NULL;
}

/* Whether programs that no agent can enter are recorded from outside. An engine of agents that was asked for is alone. */
static void open_alongside(struct recording *r)
{
    if (r->request->heap || r->request->no_children || r->request->engine == SFB_ENGINE_TIMER ||
        r->request->engine == SFB_ENGINE_SAMPLER)
        return;
    r->alongside = alongside_open(r->request->rate_hz, r->why_alone, sizeof r->why_alone);
}

static bool make_child(struct recording *r, const char *path, const char *agent)
{
    char **environment = sfb_recorder_environment(environ, agent, r->session.text);
    bool good = environment != NULL;

    if (good)
        good = record_child_make(&r->child, path, r->request->arguments, environment);
    else
        tool_complain(TOOL_FAILED, "record: %s", strerror(ENOMEM));
    sfb_recorder_environment_free(environment);
    return good;
}

static bool open_drain(struct recording *r)
{
    const struct sfb_recorder_follow_options follow = {
        r->session.shared,
        r->engine.perf ? &r->engine.events : NULL,
        r->child.pid,
        r->writer,
        r->request->no_children,
        r->alongside ? alongside_calls(r->alongside)
                     : (struct sfb_recorder_elsewhere){ .with = NULL },
        r->why_alone
    };
    struct sfb_recorder_drain_options drain = { .shared = r->session.shared,
                                                .fd = r->session.fd,
                                                .first_pid = (uint32_t)r->child.pid,
                                                .writer = r->writer,
                                                .ids = &r->ids,
                                                .no_children = r->request->no_children,
                                                .elsewhere = r->alongside != NULL,
                                                .heap = &sfb_recorder_heap_drain,
                                                .own_thread = true,
                                                .paused = r->request->paused,
                                                .aggregate = r->request->aggregate,
                                                .snapshot_ns = r->request->snapshot_ns,
                                                .temporary_within = r->request->temporary_within };

    r->follow = sfb_recorder_follow_open(&follow);
    if (r->follow)
        drain.watcher = sfb_recorder_follow_watcher(r->follow);
    if (!r->follow || sfb_recorder_drain_open(&r->drain, &drain) != SFB_OK ||
        (r->alongside && !alongside_begin(r->alongside, r->writer, &r->ids))) {
        tool_complain(TOOL_FAILED, "record: %s", strerror(ENOMEM));
        return false;
    }
    sfb_recorder_follow_drain(r->follow, r->drain);
    if (r->alongside)
        alongside_follow(r->alongside, r->follow);
    r->pauses.paused = r->request->paused;
    sfb_recorder_follow_pause(r->follow, r->pauses.paused);
    return !r->pauses.paused || !r->alongside ||
           alongside_pause(r->alongside, clock_ns(CLOCK_MONOTONIC), true);
}

/* Half of the descriptors are for events: as many as may be. The program, which is there already, keeps its own limit. */
static void raise_limit(void)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
}

/* @return 0, or the exit status after a complaint */
static int begin(struct recording *r, const char *path, const char *agent)
{
    const char *what;
    int cause;

    /* Orphans come here: their ends are seen, and that they are the program's. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (!open_session(r))
        return TOOL_FAILED;
    open_alongside(r); /* the child inherits its events */
    if (!make_child(r, path, agent))
        return TOOL_FAILED;
    raise_limit();
    /* It needs little, but in time: rings fill up meanwhile. */
    if (setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) - 10) != 0)
        errno = 0;
    record_signals_catch(r->child.pid);
    if ((!r->request->heap && !record_engine_choose(&r->engine, r->request)) ||
        !record_file_open(&r->file, r->request, path, r->child.pid) ||
        !record_writer_open(&r->writer, &r->file, r->request, r->engine.engine, r->engine.text) ||
        !open_drain(r)) {
        record_child_drop(&r->child);
        record_file_drop(&r->file);
        return TOOL_FAILED;
    }
    r->session.shared->engines = r->engine.agents;
    r->session.shared->max_frames = r->request->max_frames;
    r->session.shared->period_ns = r->engine.perf ? r->engine.events.period : 0;
    what = sfb_recorder_session_serve(&r->session);
    if (what)
        tool_complain(TOOL_FAILED, "record: %s: %s; programs of other users are not recorded", what,
                      strerror(errno));
    cause = record_child_start(&r->child);
    if (cause == 0)
        return 0;
    waitpid(r->child.pid, NULL, 0);
    record_file_drop(&r->file);
    return (int)tool_complain(cause == ENOENT ? TOOL_NOT_FOUND : TOOL_NOT_EXECUTABLE,
                              "record: %s: %s", path, strerror(cause));
}

/* --- while it runs ------------------------------------------------------------------------------- */

/* Whether the program has ended and with it all that is recorded. Daemons that it started run on. */
static bool all_ended(struct recording *r)
{
    siginfo_t info = { .si_pid = 0 };
    size_t running;
    int status;

    if (!sfb_recorder_follow_ended(r->follow, &status))
        return false;
    if (!r->over)
        r->typed_before = record_signals_typed();
    r->over = true;
    running = sfb_recorder_follow_running(r->follow) +
              (r->alongside ? alongside_running(r->alongside) : 0);
    if (status != 0)
        return true;
    /* A child may not have said yet that it is there. */
    if (running == 0)
        return r->grace++ >= GRACE_LOOKS ||
               (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD);
    if (!r->said && !r->request->quiet) {
        record_progress_end();
        fprintf(stderr,
                "sfb: the program has ended; %s still running and recorded. "
                "Ctrl-C ends the recording\n",
                counted(running, "child processes are").text);
    }
    r->said = true;
    return false;
}

static void show(struct recording *r, uint64_t now)
{
    struct sfb_recorder_totals totals;

    if (now - r->shown < shown_every_ns)
        return;
    sfb_recorder_drain_totals(r->drain, &totals);
    record_progress(r->request, &totals, sfb_recording_writer_size(r->writer), now - r->begun);
    r->shown = now;
}

/*
 * What is typed while the program runs is the program's: an interpreter or a debugger goes on after it. The first signal
 * of a process is handed on, and ends the program as a rule.
 */
static bool is_interrupted(const struct recording *r)
{
    const unsigned sent = record_signals_sent();

    return sent > 1 || (r->over && (sent == 1 || record_signals_typed() != r->typed_before));
}

/* @return why the recording ends; NULL: it goes on */
static const char *reason_to_end(struct recording *r, bool written, uint64_t now)
{
    const uint64_t duration = r->request->duration_ns;

    return !written                                     ? "it could not be written"
           : all_ended(r)                               ? "the program ended"
           : is_interrupted(r)                          ? "interrupted"
           : duration > 0 && now - r->begun >= duration ? "--duration"
                                                        : NULL;
}

static bool knows(void *user, pid_t pid)
{
    const struct recording *r = user;

    return record_controls(r->child.pid, pid);
}

static unsigned marks(void *user)
{
    const struct recording *r = user;
    struct sfb_recorder_totals totals;

    sfb_recorder_drain_totals(r->drain, &totals);
    return totals.marks;
}

/* CPU time of all that was started, whether it has ended or not. */
static uint64_t used_so_far(void)
{
    return used_by_children() + record_used_by_tree(getpid(), false);
}

static bool pause_recording(void *user, bool paused)
{
    struct recording *r = user;

    record_pauses_set(&r->pauses, paused, used_so_far());
    sfb_recorder_follow_pause(r->follow, paused);
    return (!r->alongside || alongside_pause(r->alongside, clock_ns(CLOCK_MONOTONIC), paused)) &&
           sfb_recorder_drain_pause(r->drain, paused) == SFB_OK;
}

/* Rings of the heap may be looked at more often; processes are looked at each 10 ms. */
static void record(struct recording *r)
{
    bool written = true, signalled = false;

    const struct sfb_recorder_controlled controlled = { .writer = r->writer,
                                                        .file = r->file.name,
                                                        .heap = r->request->heap,
                                                        .knows = knows,
                                                        .pause = pause_recording,
                                                        .marks = marks,
                                                        .user = r };
    struct sfb_recorder_control control;

    sfb_recorder_control_open(&control, r->pauses.paused);
    r->used_before = used_by_children();
    r->begun = r->flushed = r->shown = clock_ns(CLOCK_MONOTONIC);
    while (!r->reason) {
        const uint32_t seen = sfb_recorder_session_seen(&r->session);
        uint64_t now;

        sfb_recorder_follow_settle(r->follow);
        written = sfb_recorder_drain(r->drain) == SFB_OK;
        now = clock_ns(CLOCK_MONOTONIC);
        if (now - r->looked >= look_ns * 9 / 10 || !written || signalled) {
            r->looked = now;
            sfb_recorder_follow_look(r->follow);
            written = written && (!r->alongside || alongside_take(r->alongside));
            if (written && now - r->flushed > second_ns) {
                written = sfb_recording_writer_flush(r->writer) == SFB_OK;
                r->flushed = now;
            }
            show(r, now);
            sfb_recorder_control_take(&control, &controlled);
            r->reason = reason_to_end(r, written, now);
        }
        if (!r->reason && r->request->heap)
            signalled = sfb_recorder_drain_wait(r->drain);
        else if (!r->reason)
            signalled = sfb_recorder_session_wait(&r->session, seen, look_ns);
    }
    sfb_recorder_control_close(&control);
}

/* --- its end ------------------------------------------------------------------------------------- */

/* The same of the heap. */
static const char *explain_no_allocations(const struct record_request *request)
{
    return request->heap_rate > 0 ? "no allocation became a sample: --heap-rate is larger than "
                                    "what was allocated"
                                  : "nothing was allocated after the agent was loaded, or the "
                                    "program has a malloc() of its own";
}

static uint32_t reached_rate(const struct recording *r)
{
    const uint32_t reached = record_engine_reached(&r->engine, r->request);

    return reached > 0 ? reached : r->request->rate_hz;
}

/* Why there are no samples: the recording has to say it. */
static const char *explain_nothing(struct recording *r, const struct sfb_recorder_totals *totals)
{
    static char text[256];
    const char *name = r->request->arguments[0];

    if (totals->processes == 0)
        snprintf(text, sizeof text,
                 "the agent did not report from %.100s: it ended at once, or cleared its "
                 "environment, or may not open the session",
                 name);
    else if (r->pauses.paused && !r->pauses.ran)
        snprintf(text, sizeof text, "it was paused up to its end: see sfb ctl PID start");
    else if (totals->lost[SFB_LOSS_NO_TIMER] > 0)
        snprintf(text, sizeof text, "the system gave no timer (RLIMIT_SIGPENDING)");
    else if (totals->lost[SFB_LOSS_NOT_FOLLOWED] > 0)
        snprintf(text, sizeof text, "%s no agent: sfb report --check names %s",
                 counted(totals->lost[SFB_LOSS_NOT_FOLLOWED], "processes have").text,
                 totals->lost[SFB_LOSS_NOT_FOLLOWED] == 1 ? "it" : "them");
    else if (totals->lost[SFB_LOSS_FILTER] > 0)
        snprintf(text, sizeof text, "the program set a seccomp filter before");
    else if (r->request->heap)
        snprintf(text, sizeof text, "%s", explain_no_allocations(r->request));
    else if (totals->cpu > 20 * (1000000000 / r->request->rate_hz))
        snprintf(text, sizeof text, "no signal came in %.1f ms of CPU time; the engine was: %s",
                 (double)totals->cpu / 1e6, sfb_recording_engine_str(r->engine.engine));
    else
        snprintf(text, sizeof text,
                 "%s used %.1f ms of CPU time, and a sample is taken each %.1f ms",
                 counted(totals->processes, "processes").text, (double)totals->cpu / 1e6,
                 1e3 / reached_rate(r));
    sfb_recorder_drain_lost(r->drain, 0, SFB_LOSS_NOT_FOLLOWED, totals->processes == 0, text);
    return text;
}

/* What the recording has not is said, where all was to be recorded and has ended. */
static void account(struct recording *r, struct record_outcome *out)
{
    const struct outside_totals *t = r->alongside ? alongside_totals(r->alongside) : NULL;
    const uint64_t outside = t ? t->weight + t->unsampled : 0;
    uint64_t used, passed;

    if (r->request->heap || r->request->no_children || !r->over)
        return;
    sfb_recorder_follow_end(r->follow);
    passed = record_pauses_end(&r->pauses, used_by_children());
    used = used_by_children() - r->used_before;
    sfb_recorder_drain_account(r->drain, used > passed ? used - passed : 0, outside,
                               out->unrecorded, sizeof out->unrecorded);
}

/* Before the drain ends its processes: until then it is known which ones have an agent. */
static void finish_alongside(struct recording *r)
{
    const struct outside_totals *t;

    if (!r->alongside)
        return;
    sfb_recorder_drain(r->drain);
    alongside_end(r->alongside);
    t = alongside_totals(r->alongside);
    if (t->lost > 0)
        sfb_recorder_drain_lost(r->drain, 0, SFB_LOSS_RING_FULL, t->lost,
                                "from outside: the kernel dropped them");
    if (t->unreadable > 0)
        sfb_recorder_drain_lost(r->drain, 0, SFB_LOSS_BAD_RING, t->unreadable,
                                "from outside: damaged records");
}

static void finish(struct recording *r, struct record_outcome *out)
{
    const char *no_what = r->request->heap ? "; no allocations: " : "; no samples: ";
    struct sfb_recorder_totals *totals = &out->totals;
    char reason[320];
    struct stat file;
    uint64_t taken;

    *out = (struct record_outcome){ .file = r->file.name };
    finish_alongside(r);
    sfb_recorder_drain_finish(r->drain);
    account(r, out);
    sfb_recorder_drain_totals(r->drain, totals);
    if (r->alongside) {
        totals->samples += alongside_totals(r->alongside)->samples;
        totals->processes += alongside_totals(r->alongside)->processes;
        totals->threads += alongside_totals(r->alongside)->threads;
    }
    record_progress_end();
    if (r->request->heap ? totals->heap.allocated_blocks == 0 : totals->samples == 0)
        out->nothing = explain_nothing(r, totals);
    sfb_recorder_drain_close(r->drain);
    sfb_recorder_follow_close(r->follow);
    sfb_recording_writer_flush(r->writer);
    taken = totals->samples;
    totals->samples = sfb_recording_writer_samples(r->writer, &totals->weight);
    out->unwritten = taken - totals->samples;
    out->error = sfb_recording_writer_errno(r->writer);
    out->limited = out->error == EFBIG && r->request->max_size > 0;
    snprintf(reason, sizeof reason, "%s%s%s", out->limited ? "--max-size" : r->reason,
             out->nothing ? no_what : "", out->nothing ? out->nothing : "");
    if (sfb_recording_writer_close(r->writer, clock_ns(CLOCK_MONOTONIC), reason) != SFB_OK &&
        out->error == 0)
        out->error = errno != 0 ? errno : EIO;
    fstat(r->file.fd, &file);
    out->size = (uint64_t)file.st_size;
    if (close(r->file.fd) != 0 && out->error == 0)
        out->error = errno;
    alongside_close(r->alongside);
    r->alongside = NULL;
}

/* The recording has ended, and the program runs on. Orphans still come here. @return as waitpid() */
static int wait_for_program(const struct recording *r)
{
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(-1, &status, 0)) != r->child.pid)
        if (ended < 0 && (errno != EINTR || record_signals_sent() > 1))
            return W_EXITCODE(0, SIGINT);
    return status;
}

static int exit_status_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void summarize(const struct recording *r, const struct record_outcome *outcome)
{
    record_summary(r->request, outcome);
    if (!r->request->heap && !r->request->quiet)
        record_engine_tell(&r->engine, r->request);
}

/* On a terminal the last line waits until the program, which draws there, has ended. @return the exit status */
static int end(struct recording *r)
{
    struct record_outcome outcome;
    int status;
    const bool ended = sfb_recorder_follow_ended(r->follow, &status);
    const bool left = !ended && strcmp(r->reason, "interrupted") == 0;
    const bool early = left || (!ended && !isatty(STDERR_FILENO));

    finish(r, &outcome);
    if (early)
        summarize(r, &outcome);
    if (left)
        return 128 + record_signals_last();
    if (!ended)
        status = wait_for_program(r);
    record_crash_line(status);
    if (!early)
        summarize(r, &outcome);
    if (outcome.error != 0 && !outcome.limited)
        return TOOL_FAILED;
    return !record_limits_judge(r->request, &outcome, r->child.pid) && exit_status_of(status) == 0
               ? TOOL_BAD_DATA
               : exit_status_of(status);
}

int record_session(const struct record_request *request, const char *path, const char *agent)
{
    struct recording r = { .request = request, .file = { .fd = -1 } };
    int failed = begin(&r, path, agent);

    if (failed == 0) {
        record(&r);
        failed = end(&r);
    }
    alongside_close(r.alongside);
    sfb_recorder_session_close(&r.session);
    return failed;
}
