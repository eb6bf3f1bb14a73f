#include "profiler/collector/rings/control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "profiler/protocol/control.h"
#include "profiler/protocol/control_address.h"
#include "util/counted.h"

enum { QUESTIONS = 16 };

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void sfb_recorder_control_open(struct sfb_recorder_control *out, bool paused)
{
    struct sockaddr_un address;
    const socklen_t size = sfb_control_address(&address, getpid());
    const int yes = 1;

    *out = (struct sfb_recorder_control){ .begun = now_ns() };
    out->paused_since = paused ? out->begun : 0;
    out->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->fd < 0)
        return;
    if (setsockopt(out->fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
        bind(out->fd, (struct sockaddr *)&address, size) != 0)
        sfb_recorder_control_close(out);
}

void sfb_recorder_control_close(struct sfb_recorder_control *c)
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

static void refuse(struct sfb_control_reply *reply, const char *cause)
{
    reply->answer = SFB_CONTROL_FAILED;
    snprintf(reply->text, sizeof reply->text, "%s", cause);
}

static void mark(struct sfb_recorder_control *control, const struct sfb_recorder_controlled *what,
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

static uint64_t paused_ns(const struct sfb_recorder_control *control)
{
    return control->paused_ns + (control->paused_since > 0 ? now_ns() - control->paused_since : 0);
}

static void say_status(const struct sfb_recorder_control *control,
                       const struct sfb_recorder_controlled *what, struct sfb_control_reply *reply)
{
    uint64_t weight;
    const uint64_t samples = sfb_recording_writer_samples(what->writer, &weight),
                   paused = paused_ns(control);
    const unsigned marks = control->marks + (what->marks ? what->marks(what->user) : 0);
    char pause[64] = "", waited[64] = "";

    if (paused > 0)
        snprintf(pause, sizeof pause, ", %.1f s of them paused", (double)paused / 1e9);
    if (what->waits)
        snprintf(waited, sizeof waited, "%.1f s of waits, ",
                 (double)sfb_recording_writer_waited(what->writer) / 1e9);
    reply->answer = what->wide ? SFB_CONTROL_WIDE : SFB_CONTROL_DONE;
    /* A status that does not fit ends in the middle of the file's name. */
    if (snprintf(
            reply->text, sizeof reply->text,
            "%s: recorded by process %d for %.1f s%s: %.40s%s%s%.40s, %" PRIu64 " bytes in %.300s",
            control->paused_since > 0 ? "paused" : "recording", (int)getpid(),
            (double)(now_ns() - control->begun) / 1e9, pause,
            what->heap ? "" : counted(samples, "samples").text, what->heap ? "" : ", ", waited,
            counted(marks, "marks").text, sfb_recording_writer_size(what->writer), what->file) < 0)
        reply->text[0] = '\0';
}

/* start, stop. The second of two equal ones is refused: its caller takes the recording for another one. */
static void set_pause(struct sfb_recorder_control *control,
                      const struct sfb_recorder_controlled *what, bool paused,
                      struct sfb_control_reply *reply)
{
    const char *cause = NULL;

    if (!what->pause)
        cause = "one recording follows another, and none can be paused";
    else if (paused == (control->paused_since > 0))
        cause = paused ? "it is paused already" : "it is recorded already";
    else if (!what->pause(what->user, paused))
        cause = "the recording cannot be written";
    if (cause) {
        refuse(reply, cause);
        return;
    }
    reply->answer = SFB_CONTROL_DONE;
    if (!paused)
        control->paused_ns = paused_ns(control);
    control->paused_since = paused ? now_ns() : 0;
}

static void answer(struct sfb_recorder_control *control, const struct sfb_recorder_controlled *what,
                   struct sfb_control_question *q, struct sfb_control_reply *reply)
{
    q->name[SFB_CONTROL_NAME] = '\0';
    if (!what->knows(what->user, (pid_t)q->process))
        reply->answer = SFB_CONTROL_OTHER;
    else if (q->what == SFB_CONTROL_MARK)
        mark(control, what, q->name, reply);
    else if (q->what == SFB_CONTROL_STATUS)
        say_status(control, what, reply);
    else if (q->what == SFB_CONTROL_START || q->what == SFB_CONTROL_STOP)
        set_pause(control, what, q->what == SFB_CONTROL_STOP, reply);
    else
        refuse(reply, "this recorder is older than what asks it");
}

/* @return false: there is no question more */
static bool take_one(struct sfb_recorder_control *control,
                     const struct sfb_recorder_controlled *what)
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

void sfb_recorder_control_take(struct sfb_recorder_control *control,
                               const struct sfb_recorder_controlled *what)
{
    for (unsigned i = 0; control->fd >= 0 && i < QUESTIONS && take_one(control, what); i++)
        ;
}
