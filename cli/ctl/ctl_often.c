/* sfb ctl PID dump --every S, --at-peak: looks at a table again and again, until its process ends or a signal comes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/ctl/ctl.h"

#define PEAK_NS UINT64_C(1000000000) /* between two looks for a peak, if --every does not say it */

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

/* Signals come only while it waits: no file is left half written. @param waiting  written: the mask for that */
static void catch_signals(sigset_t *waiting)
{
    const struct sigaction action = { .sa_handler = stop };
    sigset_t ours;

    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigprocmask(SIG_BLOCK, &ours, waiting);
    sigdelset(waiting, SIGINT);
    sigdelset(waiting, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static bool has_ended(int process)
{
    struct pollfd poll = { .fd = process, .events = POLLIN };

    return ppoll(&poll, 1, &(struct timespec){ .tv_sec = 0 }, NULL) > 0;
}

/* @return false: the process has ended, or a signal came */
static bool wait_for(int process, uint64_t ns, const sigset_t *waiting)
{
    const struct timespec time = { .tv_sec = (time_t)(ns / 1000000000U),
                                   .tv_nsec = (long)(ns % 1000000000U) };
    struct pollfd poll = { .fd = process, .events = POLLIN };

    return ppoll(&poll, 1, &time, waiting) == 0 && !stopped;
}

/* "heap.sfbr" -> "heap-3.sfbr" */
static const char *numbered(char *out, size_t size, const char *path, unsigned number)
{
    const char *base = strrchr(path, '/'), *dot = strrchr(base ? base : path, '.');
    const int stem =
        (int)(dot && dot > (base ? base + 1 : path) ? (size_t)(dot - path) : strlen(path));

    snprintf(out, size, "%.*s-%u%s", stem, path, number, path + stem);
    return out;
}

/* Each dump is a file of its own, or lines; of the peak, the file is the largest one so far. */
static enum tool_exit look_again(const struct ctl_request *r, unsigned number, uint64_t *peak)
{
    char path[4096];
    struct ctl_look look = { .output = r->output, .force = r->force };
    enum tool_exit exit_status;

    if (r->at_peak) {
        look.force |= *peak > 0; /* a look before has written it */
        look.above = *peak;
    } else if (r->output) {
        look.output = numbered(path, sizeof path, r->output, number);
    }
    exit_status = ctl_dump_once(r, &look);
    *peak = look.bytes > *peak ? look.bytes : *peak;
    fflush(stdout);
    return exit_status;
}

enum tool_exit ctl_dump_often(const struct ctl_request *r)
{
    const uint64_t every = r->every_ns ? r->every_ns : PEAK_NS;
    enum tool_exit exit_status = TOOL_DONE;
    uint64_t pid, peak = 0;
    sigset_t waiting;
    int process;

    if (!ctl_is_process(r->target, &pid))
        return tool_misused(r->command,
                            "'%s' is no number of a process: --every and --at-peak take one",
                            r->target);
    process = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (process < 0)
        return tool_complain(TOOL_USAGE, "process %s: %s", r->target, strerror(errno));
    catch_signals(&waiting);
    for (unsigned number = 1;; number++) {
        const enum tool_exit one = look_again(r, number, &peak);

        if (one == TOOL_USAGE && number > 1 && has_ended(process))
            break; /* and its table with it */
        exit_status = tool_worse(exit_status, one);
        if (one == TOOL_USAGE || !wait_for(process, every, &waiting))
            break;
    }
    close(process);
    return exit_status;
}
