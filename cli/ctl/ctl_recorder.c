/* sfb ctl PID mark NAME, start, stop, status: of a recording that runs. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/ctl/ctl.h"
#include "profiler/collector/processes/tasks.h"
#include "profiler/protocol/control.h"
#include "profiler/protocol/control_address.h"
#include "util/foreign.h"

/* A recorder answers within 20 ms, where it gets a CPU. */
enum { ANSWER_MS = 5000, OTHERS_MS = 500, RECORDERS = 256 };

struct asked {
    int fd;
    pid_t recorders[RECORDERS];
    size_t count; /* of recorders that have the question */
    uid_t owner;  /* of the process */
};

static int open_socket(void)
{
    const struct sockaddr_un any = { .sun_family = AF_UNIX };
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;

    /* Without a name the kernel chooses one, which answers come to. */
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
        bind(fd, (const struct sockaddr *)&any, sizeof any.sun_family) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* @return whether a recorder was asked: one that reads nothing is not waited for */
static bool ask(int fd, pid_t recorder, const struct sfb_control_question *question)
{
    struct sockaddr_un address;
    const socklen_t size = sfb_control_address(&address, recorder);

    return sendto(fd, question, sizeof *question, MSG_NOSIGNAL, (struct sockaddr *)&address,
                  size) >= 0;
}

/* The process that an answer comes from, as the kernel says it. @return false: it does not */
static bool find_sender(struct ucred *out, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
            c->cmsg_len >= CMSG_LEN(sizeof *out)) {
            memcpy(out, CMSG_DATA(c), sizeof *out);
            return true;
        }
    return false;
}

/* Any process may have a socket of that name: an answer counts from this user, from root, and from the process's own user. */
static bool is_trusted_user(uid_t user, const struct asked *a)
{
    return user == 0 || user == geteuid() || user == a->owner;
}

/* Whether an answer of a recorder can count: others are not waited for. */
static bool may_count(pid_t recorder, const struct asked *a)
{
    struct stat process;
    char path[32];

    snprintf(path, sizeof path, "/proc/%d", (int)recorder);
    return stat(path, &process) != 0 || is_trusted_user(process.st_uid, a);
}

static bool is_trusted(const struct ucred *from, const struct asked *a)
{
    if (!is_trusted_user(from->uid, a))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->recorders[i] == from->pid)
            return true;
    return false;
}

/*
 * @param from  written
 * @return whether an answer was taken, and is one of a recorder that was asked
 */
static bool hear(const struct asked *a, struct sfb_control_reply *reply, pid_t *from)
{
    struct iovec part = { reply, sizeof *reply };
    union {
        char room[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } credentials;
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = &credentials,
                              .msg_controllen = sizeof credentials };
    const ssize_t size = recvmsg(a->fd, &message, MSG_CMSG_CLOEXEC);
    struct ucred sender;

    reply->text[sizeof reply->text - 1] = '\0';
    if (size != sizeof *reply || !find_sender(&sender, &message) || !is_trusted(&sender, a))
        return false;
    *from = sender.pid;
    return true;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for one answer. @return false: none has come by then */
static bool wait_for_one(const struct asked *a, struct sfb_control_reply *reply, pid_t *from,
                         int64_t end)
{
    for (int64_t now = now_ms(); now < end; now = now_ms()) {
        struct pollfd answer = { .fd = a->fd, .events = POLLIN };

        if (poll(&answer, 1, (int)(end - now)) > 0 && hear(a, reply, from))
            return true;
    }
    return false;
}

/*
 * Of the recorders that have the process: itself, if it is one; else one of few processes before one of all.
 *
 * @param best      written: its status
 * @param recorder  written
 */
static enum ctl_answer find_recorder(const struct asked *a, pid_t target,
                                     struct sfb_control_reply *best, pid_t *recorder)
{
    int64_t end = now_ms() + ANSWER_MS;
    struct sfb_control_reply one = { .answer = SFB_CONTROL_OTHER };
    size_t heard = 0, count = 0;
    bool wide = true;
    pid_t from;

    for (; heard < a->count && wait_for_one(a, &one, &from, end); heard++) {
        const bool is_wide = one.answer == SFB_CONTROL_WIDE;

        if (one.answer == SFB_CONTROL_OTHER)
            continue;
        if (from == target || count == 0 || (wide && !is_wide)) {
            count = 1;
            *best = one;
            *recorder = from;
            wide = is_wide;
            end = now_ms() + OTHERS_MS;
        } else if (is_wide == wide) {
            count++;
        }
        if (from == target)
            return CTL_ANSWERED;
    }
    if (count == 0)
        return heard < a->count ? CTL_LATE : CTL_NONE;
    return count == 1 ? CTL_ANSWERED : CTL_SEVERAL;
}

/* The recorders of this PID namespace, of any user. @return how many */
static size_t list_recorders(pid_t out[RECORDERS])
{
    FILE *sockets = fopen("/proc/net/unix", "re");
    char line[512], mark[64];
    size_t count = 0;

    snprintf(mark, sizeof mark, "@" SFB_CONTROL_SOCKET "%" PRIu64 "-", sfb_control_namespace());
    while (sockets && count < RECORDERS && fgets(line, sizeof line, sockets)) {
        const char *at = strstr(line, mark);

        if (at)
            out[count++] = (pid_t)strtol(at + strlen(mark), NULL, 10);
    }
    if (sockets)
        fclose(sockets);
    return count;
}

enum ctl_answer ctl_ask_recorder(const char *target, const struct sfb_control_question *question,
                                 struct sfb_control_reply *reply)
{
    struct sfb_control_question q = { .what = SFB_CONTROL_STATUS };
    struct asked a = { .count = 0 };
    struct stat process;
    char path[32];
    enum ctl_answer answer = CTL_NONE;
    uint64_t pid;
    size_t count;
    pid_t recorder = 0;

    if (!ctl_is_process(target, &pid))
        return CTL_NONE;
    q.process = (uint32_t)pid;
    snprintf(path, sizeof path, "/proc/%" PRIu64, pid);
    a.owner = stat(path, &process) == 0 ? process.st_uid : geteuid();
    count = list_recorders(a.recorders);
    a.fd = count > 0 ? open_socket() : -1;
    for (size_t i = 0; a.fd >= 0 && i < count; i++)
        if (may_count(a.recorders[i], &a) && ask(a.fd, a.recorders[i], &q))
            a.recorders[a.count++] = a.recorders[i];
    if (a.count > 0)
        answer = find_recorder(&a, (pid_t)pid, reply, &recorder);
    if (answer == CTL_ANSWERED && question->what != SFB_CONTROL_STATUS) {
        q = *question;
        q.process = (uint32_t)pid;
        a.recorders[0] = recorder;
        a.count = 1;
        if (!ask(a.fd, recorder, &q) || !wait_for_one(&a, reply, &recorder, now_ms() + ANSWER_MS))
            answer = CTL_LATE;
    }
    if (a.fd >= 0)
        close(a.fd);
    return answer;
}

enum tool_exit ctl_say_unrecorded(const char *target, enum ctl_answer answer)
{
    struct stat process;
    char path[32];
    uint64_t pid;

    if (answer == CTL_SEVERAL)
        return tool_complain(
            TOOL_USAGE, "%s is in several recordings: name the recorder, 'sfb ctl RECORDER ...'",
            target);
    if (!ctl_is_process(target, &pid))
        return tool_complain(TOOL_USAGE, "'%s' is no number of a process", target);
    snprintf(path, sizeof path, "/proc/%" PRIu64, pid);
    if (stat(path, &process) != 0 || sfb_recorder_task_has_ended((pid_t)pid))
        return tool_complain(TOOL_USAGE, "%s: there is no such process, or it has ended", target);
    if (geteuid() != 0 && process.st_uid != geteuid())
        return tool_complain(TOOL_USAGE,
                             "%s is of user %lu: only that user and root may ask for its recording",
                             target, (unsigned long)process.st_uid);
    if (answer == CTL_LATE)
        return tool_complain(
            TOOL_USAGE,
            "%s: a recorder here has not answered for %d s; it may still do what it was asked for",
            target, ANSWER_MS / 1000);
    return tool_complain(TOOL_USAGE, "%s is in no recording that runs here, nor is it a recorder",
                         target);
}

enum tool_exit ctl_pause(const struct ctl_request *r, bool paused)
{
    const struct sfb_control_question question = { .what = paused ? SFB_CONTROL_STOP
                                                                  : SFB_CONTROL_START };
    struct sfb_control_reply reply;
    const enum ctl_answer answer = ctl_ask_recorder(r->target, &question, &reply);

    if (answer != CTL_ANSWERED)
        return ctl_say_unrecorded(r->target, answer);
    return reply.answer == SFB_CONTROL_DONE
               ? TOOL_DONE
               : tool_complain(TOOL_USAGE, "%s: not %s: %s", r->target,
                               paused ? "stopped" : "started", reply.text);
}

enum tool_exit ctl_status(const struct ctl_request *r)
{
    const struct sfb_control_question question = { .what = SFB_CONTROL_STATUS };
    struct sfb_control_reply reply;
    const enum ctl_answer answer = ctl_ask_recorder(r->target, &question, &reply);

    if (answer != CTL_ANSWERED)
        return ctl_say_unrecorded(r->target, answer);
    fputs(r->target, stdout);
    fputs(": ", stdout);
    foreign_print(stdout, reply.text);
    putchar('\n');
    return TOOL_DONE;
}
