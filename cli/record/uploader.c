#include "cli/record/uploader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/tool.h"
#include "sfb/recording.h"

static const uint64_t ms_ns = 1000000, first_wait_ns = 1000000000, last_wait_ns = 60000000000;

struct work {
    struct spool spool;
    const struct uploader_options *options;
    int wake;
    bool ending;       /* the recorder has ended */
    uint64_t wait_ns;  /* before the next try; 0: the last one went well */
    uint64_t least_ns; /* and no earlier */
};

/* --- One recording ----------------------------------------------------------------------------- */

/* sfb report makes what is sent: of a damaged recording, what can be read. @return false: nothing can */
static bool convert(const struct work *w, const char *from, const char *to)
{
    const char *const option = w->options->pprof ? "--pprof" : "--otlp";
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execl("/proc/self/exe", "sfb", "report", option, to, from, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && access(to, R_OK) == 0;
}

/* Whether something used CPU time in it, or waited: else there is nothing to send. */
static bool has_time(const char *path)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event e;
    bool found = false;

    if (sfb_recording_reader_open(&reader, path, NULL) != SFB_OK)
        return false;
    while (!found && sfb_recording_reader_next(reader, &e) == SFB_OK)
        found = (e.kind == SFB_EVENT_SAMPLE && e.of.sample.weight > 0) ||
                (e.kind == SFB_EVENT_WAIT && e.of.wait.weight > 0) ||
                (e.kind == SFB_EVENT_THREAD_END && e.of.thread_end.unsampled_ns > 0) ||
                (e.kind == SFB_EVENT_PROCESS_END && e.of.process_end.unsampled_ns > 0);
    sfb_recording_reader_close(reader);
    return found;
}

static bool is_gone(const char *path)
{
    return access(path, F_OK) != 0;
}

static void say(const struct spool_name *name, const char *what, const char *why)
{
    tool_complain(TOOL_DONE, "record: %s: %s: %s", name->text, what, why);
}

static void note(const struct work *w, const struct spool_name *name, enum spool_state state)
{
    if (!spool_mark(&w->spool, name, state) && errno != ENOENT)
        say(name, "it was sent, and may be sent again", strerror(errno));
}

/* @return false: later */
static bool send_one(struct work *w, const struct spool_name *name)
{
    const bool pprof = w->options->pprof;
    char from[sizeof w->spool.folder + sizeof name->text + 2], to[sizeof w->spool.folder + 32];
    struct upload_answer answer = { .result = UPLOAD_REFUSED, .why = "it cannot be read" };

    snprintf(from, sizeof from, "%s", spool_path(&w->spool, name));
    snprintf(to, sizeof to, "%s/.upload%s", w->spool.folder, pprof ? ".pb.gz" : ".otlp.gz");
    unlink(to);
    if (!is_gone(from) && !has_time(from))
        answer.result = UPLOAD_DONE;
    else if (convert(w, from, to))
        upload_send(&answer, &w->options->target, to,
                    pprof ? "application/octet-stream" : "application/x-protobuf", !pprof);
    else if (is_gone(from))
        return true; /* the spool was full */
    unlink(to);
    switch (answer.result) {
    case UPLOAD_DONE:
        note(w, name, SPOOL_SENT);
        w->wait_ns = 0;
        return true;
    case UPLOAD_REFUSED:
        say(name, "not uploaded", answer.why);
        note(w, name, SPOOL_REFUSED);
        return true;
    case UPLOAD_LATER: break;
    }
    if (w->wait_ns == 0)
        say(name, "the upload will be tried again", answer.why);
    w->wait_ns = w->wait_ns == 0                 ? first_wait_ns
                 : w->wait_ns < last_wait_ns / 2 ? 2 * w->wait_ns
                                                 : last_wait_ns;
    w->least_ns = answer.after_ns;
    return false;
}

/* --- All of them ------------------------------------------------------------------------------- */

/* Many hosts that were refused together do not come again together. */
static uint64_t with_jitter(uint64_t ns)
{
    uint32_t random = 0;

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = (uint32_t)getpid() * 2654435761U;
    return ns / 2 + ns / 2 * random / UINT32_MAX + ms_ns;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Waits for a new recording; after a failure for so long, whatever is recorded meanwhile. */
static void rest(struct work *w)
{
    const uint64_t end =
        w->wait_ns > 0
            ? now_ns() + w->least_ns + with_jitter(w->least_ns > 0 ? w->least_ns / 4 : w->wait_ns)
            : 0;

    while (!w->ending) {
        struct pollfd wake = { .fd = w->wake, .events = POLLIN };
        const uint64_t now = now_ns();
        char bytes[64];

        if (end > 0 && now >= end)
            return;
        if (poll(&wake, 1, end > 0 ? (int)((end - now) / ms_ns + 1) : -1) <= 0)
            continue;
        w->ending = read(w->wake, bytes, sizeof bytes) == 0;
        if (end == 0)
            return;
    }
}

static void work(struct work *w)
{
    struct spool_name name;

    for (bool last = false; !last;) {
        bool good = true;

        last = w->ending;
        /* A recording that is refused or gone is not asked for again in this round. */
        for (name.text[0] = '\0'; good && spool_next(&w->spool, name.text, &name);)
            good = send_one(w, &name);
        if (!last)
            rest(w);
    }
}

/* Of a recorder that was killed: what it sends now is not sent twice. */
static void wait_for_other(const struct spool *spool)
{
    const int lock =
        openat(spool->fd, ".upload.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR) {
    }
}

/* The recorder's descriptors, for instance its perf events, end with the recorder. */
static void close_others(const int *kept, size_t count)
{
    int from = STDERR_FILENO + 1;

    for (size_t i = 0; i < count; from = kept[i++] + 1)
        if (kept[i] > from)
            close_range((unsigned)from, (unsigned)kept[i] - 1, 0);
    close_range((unsigned)from, ~0U, 0);
}

static void run(const struct uploader *uploader, int wake)
{
    static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
    struct work w = { .spool = *uploader->spool, .options = uploader->options, .wake = wake };
    const int folder = w.spool.fd;

    close_others((const int[]){ folder < wake ? folder : wake, folder < wake ? wake : folder }, 2);
    wait_for_other(&w.spool);
    /* It ends when the recorder does, and tries once more then. */
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    work(&w);
    _exit(0);
}

static bool start(struct uploader *uploader)
{
    int wake[2];

    if (pipe2(wake, O_CLOEXEC) != 0)
        return false;
    uploader->pid = fork();
    if (uploader->pid == 0)
        run(uploader, wake[0]);
    close(wake[0]);
    if (uploader->pid < 0) {
        close(wake[1]);
        return false;
    }
    fcntl(wake[1], F_SETFL, O_NONBLOCK);
    uploader->wake = wake[1];
    return true;
}

bool uploader_start(struct uploader *out, const struct spool *spool,
                    const struct uploader_options *options)
{
    *out = (struct uploader){ .spool = spool, .options = options, .wake = -1 };
    if (!upload_target_check(&options->target))
        return false;
    if (!start(out))
        tool_complain(TOOL_FAILED, "record: --upload: %s", strerror(errno));
    return out->wake >= 0;
}

/* It never ends by itself. */
static void start_again(struct uploader *uploader)
{
    int status = 0;

    if (uploader->pid > 0 && waitpid(uploader->pid, &status, WNOHANG) == 0)
        return;
    if (uploader->wake >= 0)
        close(uploader->wake);
    uploader->wake = -1;
    if (uploader->pid > 0)
        tool_complain(
            TOOL_DONE,
            "record: the process that uploads was killed by signal %d: it is started again",
            WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (!start(uploader))
        tool_complain(TOOL_DONE, "record: --upload: %s", strerror(errno));
}

void uploader_wake(struct uploader *uploader)
{
    if (!uploader->options)
        return;
    start_again(uploader);
    /* A full pipe has woken it already. */
    if (uploader->wake >= 0 && write(uploader->wake, "", 1) < 0)
        errno = 0;
}

void uploader_end(struct uploader *uploader)
{
    if (uploader->wake >= 0)
        close(uploader->wake);
    while (uploader->pid > 0 && waitpid(uploader->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
