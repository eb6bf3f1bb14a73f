#include "cli/stack/waits.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *waits_state(char state)
{
    switch (state) {
    case 'R': return "running";
    case 'S': return "asleep";
    case 'D': return "uninterruptible";
    case 'T': return "stopped";
    case 't': return "stopped by a tracer";
    case 'Z': return "ended";
    case 'I': return "idle";
    default: return "in an unknown state";
    }
}

/* --- Descriptors ---------------------------------------------------------------------------------- */

static void add_text(struct waits_text *out, const char *text)
{
    const size_t used = strlen(out->text);

    snprintf(out->text + used, sizeof out->text - used, "%s", text);
}

/* Appends a descriptor: its number, and of a process that runs the file or socket behind it. */
static void add_descriptor(struct waits_text *out, pid_t pid, int descriptor)
{
    const size_t used = strlen(out->text);
    char path[64], target[256];
    ssize_t got;

    if (pid == 0) {
        snprintf(out->text + used, sizeof out->text - used, "fd %d", descriptor);
        return;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, descriptor);
    got = readlink(path, target, sizeof target - 1);
    target[got > 0 ? got : 0] = '\0';
    snprintf(out->text + used, sizeof out->text - used, "fd %d (%s)", descriptor,
             got > 0 ? target : "not open");
}

/* poll() and ppoll(): the first few. */
static void add_polled(struct waits_text *out, const struct sfb_remote *remote, pid_t pid,
                       const struct sfb_remote_thread *thread)
{
    enum { SHOWN = 3 };
    const uint64_t count = thread->argument[1];
    struct pollfd polled[SHOWN];
    const size_t wanted = (count < SHOWN ? (size_t)count : SHOWN) * sizeof *polled;
    size_t got = sfb_remote_memory_read(remote, thread->argument[0], polled, wanted), used;

    for (size_t i = 0; i < got / sizeof *polled; i++) {
        add_text(out, i == 0 ? " on " : ", ");
        add_descriptor(out, pid, polled[i].fd);
    }
    used = strlen(out->text);
    if (count > SHOWN && got == sizeof polled)
        snprintf(out->text + used, sizeof out->text - used, " and %" PRIu64 " more", count - SHOWN);
}

/* --- Futexes -------------------------------------------------------------------------------------- */

/* @param own  as the process knows it. @return its number here; 0: not of this process */
static pid_t find_thread(const struct sfb_remote *remote, uint32_t own)
{
    size_t count;
    const struct sfb_remote_thread *threads = sfb_remote_threads(remote, &count);

    for (size_t i = 0; i < count; i++)
        if (own != 0 && (uint32_t)threads[i].own_tid == own)
            return threads[i].tid;
    return 0;
}

static size_t count_waiters(const struct sfb_remote *remote, uint64_t futex)
{
    size_t count, waiters = 0;
    const struct sfb_remote_thread *threads = sfb_remote_threads(remote, &count);

    for (size_t i = 0; i < count; i++)
        waiters +=
            threads[i].in_call && threads[i].call == SYS_futex && threads[i].argument[0] == futex;
    return waiters;
}

/*
 * Finds the thread that a futex is about, by its words as glibc has them: pthread_join() waits on the word with the number of the
 * thread, which the kernel clears, so the futex is shared; a locked mutex with waiters is 2, and its owner's number is two words
 * behind it.
 *
 * @param end  written: it is waited for its end; else for a mutex that it holds
 * @return 0: not known
 */
static pid_t find_awaited(bool *end, const struct sfb_remote *remote,
                          const struct sfb_remote_thread *waiter)
{
    const int operation = (int)waiter->argument[1];
    const bool priority = (operation & FUTEX_CMD_MASK) == FUTEX_LOCK_PI;
    uint32_t word[3] = { 0 };
    const size_t got = sfb_remote_memory_read(remote, waiter->argument[0], word, sizeof word);
    pid_t thread;

    *end =
        !priority && !(operation & FUTEX_PRIVATE_FLAG) && word[0] == (uint32_t)waiter->argument[2];
    if (got < sizeof *word)
        return 0;
    if (priority)
        return find_thread(remote, word[0] & FUTEX_TID_MASK);
    thread = *end ? find_thread(remote, word[0]) : 0;
    if (thread != 0)
        return thread;
    *end = false;
    return got == sizeof word && word[0] == 2 ? find_thread(remote, word[2]) : 0;
}

static void add_futex(struct waits_text *out, const struct sfb_remote *remote,
                      const struct sfb_remote_thread *thread)
{
    const uint64_t at = thread->argument[0];
    const size_t used = strlen(out->text), room = sizeof out->text - used;
    const size_t waiters = count_waiters(remote, at);
    bool end;
    const pid_t awaited = find_awaited(&end, remote, thread);
    char *to = out->text + used;

    if (awaited != 0 && end)
        snprintf(to, room, " 0x%" PRIx64 " (the end of thread %d)", at, (int)awaited);
    else if (awaited != 0)
        snprintf(to, room, " 0x%" PRIx64 " (a mutex that thread %d holds)", at, (int)awaited);
    else if (waiters > 1)
        snprintf(to, room, " 0x%" PRIx64 " (%zu threads wait for it)", at, waiters);
    else
        snprintf(to, room, " 0x%" PRIx64, at);
}

bool waits_in_the_same(const struct sfb_remote_thread *a, const struct sfb_remote_thread *b)
{
    return a->in_call && b->in_call && a->call == b->call &&
           memcmp(a->argument, b->argument, sizeof a->argument) == 0;
}

bool waits_describe(struct waits_text *out, const struct sfb_remote *remote, pid_t pid,
                    const struct sfb_remote_thread *thread)
{
    const char *name = sfb_remote_call_name(thread->call);

    if (!thread->in_call)
        return false;
    if (name)
        snprintf(out->text, sizeof out->text, "%s", name);
    else
        snprintf(out->text, sizeof out->text, "system call %" PRId64, thread->call);
    if (sfb_remote_call_takes_descriptor(thread->call)) {
        add_text(out, " on ");
        add_descriptor(out, pid, (int)thread->argument[0]);
    } else if (thread->call == SYS_futex) {
        add_futex(out, remote, thread);
    } else if (thread->call == SYS_restart_syscall) {
        add_text(out, " (a sleep that goes on after a signal or a stop)");
    } else if (thread->call == SYS_ppoll) {
        add_polled(out, remote, pid, thread);
    }
#ifdef SYS_poll
    else if (thread->call == SYS_poll)
        add_polled(out, remote, pid, thread);
#endif
    return true;
}
