#include "cli/record/continuous.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/record/outside.h"
#include "util/counted.h"

extern char **environ;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct continuous {
    const struct continuous_request *how;
    struct record_request request; /* of one recording */
    struct spool spool;
    struct uploader uploader;
    struct outside_part part;
    uint64_t next; /* when the next recording begins */
};

/* The spool does not grow beyond what it may have, not even while a recording is written. */
static void make_room(struct continuous *c)
{
    const size_t lost = spool_trim(&c->spool);

    if (lost > 0 && c->how->upload.target.url)
        tool_complain(TOOL_DONE, "record: --keep: %s dropped before the upload",
                      counted(lost, "recordings were").text);
}

/* A recording that failed, or is as large as it may be, ends early. */
static void wait_for_next(const struct continuous *c)
{
    for (uint64_t now = now_ns(); now < c->next && !outside_part_is_over(&c->part); now = now_ns())
        poll(NULL, 0, (int)((c->next - now) / 1000000 % 100 + 1));
}

static void record_all(struct continuous *c)
{
    c->next = now_ns();
    do {
        struct spool_name name;
        const uint64_t now = now_ns();

        make_room(c);
        c->request.output = spool_begin(&c->spool, &name);
        c->next += c->how->every_ns;
        if (c->next <= now)
            c->next = now + c->how->every_ns;
        c->request.duration_ns = c->next - now;
        record_outside_part(&c->request, &c->part);
        spool_end(&c->spool, &name);
        uploader_wake(&c->uploader);
        wait_for_next(c);
    } while (!outside_part_is_over(&c->part));
    make_room(c);
}

/* @return the program's exit status */
static int wait_for_program(const struct continuous *c)
{
    int status = 0;

    while (waitpid(c->part.child->pid, &status, 0) < 0 && errno == EINTR &&
           record_signals_sent() <= 1) {
    }
    record_crash_line(status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int execute(struct continuous *c, const char *path)
{
    struct record_child child;

    if (path) {
        if (!record_child_make(&child, path, c->request.arguments, environ))
            return TOOL_FAILED;
        c->part.child = &child;
        c->part.path = path;
        c->part.pid = child.pid;
    } else {
        c->part.pid = c->request.pid;
    }
    record_signals_catch(path ? child.pid : 0);
    record_all(c);
    if (c->part.cause != 0)
        return (int)tool_complain(c->part.cause == ENOENT ? TOOL_NOT_FOUND : TOOL_NOT_EXECUTABLE,
                                  "record: %s: %s", path, strerror(c->part.cause));
    if (path)
        return wait_for_program(c);
    return c->part.failed ? (int)TOOL_FAILED : (int)TOOL_DONE;
}

int record_continuously(const struct record_request *request,
                        const struct continuous_request *continuous, const char *path)
{
    struct continuous c = { .how = continuous, .request = *request, .uploader = { .wake = -1 } };
    int exit_status = TOOL_FAILED;

    if (!outside_is_there(request))
        return exit_status;
    c.request.quiet = true;
    /* The one that is written, and the ones that are there. */
    if (c.request.max_size == 0 && continuous->keep > 0)
        c.request.max_size = continuous->keep / 4;
    if (spool_open(&c.spool, continuous->spool,
                   continuous->keep - (continuous->keep > 0 ? c.request.max_size : 0)) &&
        (!continuous->upload.target.url ||
         uploader_start(&c.uploader, &c.spool, &continuous->upload)))
        exit_status = execute(&c, path);
    uploader_end(&c.uploader);
    spool_close(&c.spool);
    return exit_status;
}
