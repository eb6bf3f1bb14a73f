#include "cli/record/control.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/processes/tasks.h"
#include "profiler/protocol/control.h"

enum { QUESTIONS = 16, ANCESTORS = 64 };

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void record_control_open(struct record_control *out)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int yes = 1;
    int size;

    out->begun = now_ns();
    out->marks = 0;
    out->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->fd < 0)
        return;
    size = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, SFB_CONTROL_SOCKET "%d",
                    (int)getpid());
    if (setsockopt(out->fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
        bind(out->fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)) != 0)
        record_control_close(out);
}

void record_control_close(struct record_control *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* --- Questions ------------------------------------------------------------------------------------------ */

/* Whether it comes from a process of this user, or of root. */
static bool is_allowed(struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
            c->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred from;

            memcpy(&from, CMSG_DATA(c), sizeof from);
            return from.uid == geteuid() || from.uid == 0;
        }
    return false;
}

/* The recorder itself, the program, and what either has started. Orphans are the recorder's. */
static bool is_recorded(const struct record_controlled *what, pid_t pid)
{
    const pid_t asked = pid;

    for (unsigned i = 0; i < ANCESTORS && pid > 1; i++) {
        if (pid == getpid() || pid == what->root)
            return true;
        pid = sfb_recorder_task_parent(pid);
    }
    return what->knows && what->knows(what->user, asked);
}

static void mark(struct record_control *control, const struct record_controlled *what,
                 const char *name, struct sfb_control_reply *reply)
{
    const struct sfb_recording_mark event = { .time = now_ns(), .name = name };

    reply->answer = SFB_CONTROL_FAILED;
    if (name[0] == '\0')
        snprintf(reply->text, sizeof reply->text, "a mark's name has 1 to %d bytes",
                 SFB_CONTROL_NAME);
    else if (sfb_recording_put_mark(what->writer, &event) != SFB_OK)
        snprintf(reply->text, sizeof reply->text, "the recording cannot be written");
    else {
        reply->answer = SFB_CONTROL_DONE;
        control->marks++;
        snprintf(reply->text, sizeof reply->text, "%.3f s",
                 (double)(event.time - control->begun) / 1e9);
    }
}

static void say_status(const struct record_control *control, const struct record_controlled *what,
                       struct sfb_control_reply *reply)
{
    uint64_t weight;
    const uint64_t samples = sfb_recording_writer_samples(what->writer, &weight);

    reply->answer = SFB_CONTROL_DONE;
    snprintf(reply->text, sizeof reply->text,
             "recorded by process %d for %.1f s: %" PRIu64 " samples, %u marks, %" PRIu64
             " bytes in %.300s",
             (int)getpid(), (double)(now_ns() - control->begun) / 1e9, samples, control->marks,
             sfb_recording_writer_size(what->writer), what->file);
}

static void answer(struct record_control *control, const struct record_controlled *what,
                   struct sfb_control_question *q, struct sfb_control_reply *reply)
{
    q->name[SFB_CONTROL_NAME] = '\0';
    if (!is_recorded(what, (pid_t)q->process))
        reply->answer = SFB_CONTROL_OTHER;
    else if (q->what == SFB_CONTROL_MARK)
        mark(control, what, q->name, reply);
    else if (q->what == SFB_CONTROL_STATUS)
        say_status(control, what, reply);
    else
        reply->answer = SFB_CONTROL_FAILED; /* of a later version */
}

/* @return false: there is no question more */
static bool take_one(struct record_control *control, const struct record_controlled *what)
{
    struct sfb_control_question q;
    struct sfb_control_reply reply = { .answer = SFB_CONTROL_OTHER };
    struct sockaddr_un from;
    struct iovec part = { &q, sizeof q };
    union {
        char room[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } credentials;
    struct msghdr message = { .msg_name = &from,
                              .msg_namelen = sizeof from,
                              .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = &credentials,
                              .msg_controllen = sizeof credentials };
    const ssize_t size = recvmsg(control->fd, &message, MSG_CMSG_CLOEXEC);

    if (size < 0)
        return false;
    if (size != sizeof q)
        return true;
    if (is_allowed(&message))
        answer(control, what, &q, &reply);
    sendto(control->fd, &reply, sizeof reply, MSG_NOSIGNAL, (struct sockaddr *)&from,
           message.msg_namelen);
    return true;
}

void record_control_take(struct record_control *control, const struct record_controlled *what)
{
    for (unsigned i = 0; control->fd >= 0 && i < QUESTIONS && take_one(control, what); i++)
        ;
}
