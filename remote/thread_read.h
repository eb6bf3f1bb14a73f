/* Reads one thread: looks at it asleep where that is enough, else stops it, and walks what it has read. */
#ifndef REMOTE_THREAD_READ_H
#define REMOTE_THREAD_READ_H

#include "remote/remote_walk.h"
#include "remote/thread_look.h"
#include "sfb/remote.h"

/* Where threads are read from, and how. */
struct remote_source {
    pid_t pid;
    int tasks; /* descriptor of /proc/PID/task */
    struct remote_memory *memory;
    const struct sfb_modules *modules; /* valid at the walk */
    bool may_stop;
    bool nested; /* it is in another PID namespace */
    size_t max_frames;
};

/* All zero at first; its room is used again. */
struct remote_thread {
    struct remote_look look;
    enum remote_look_end looked;
    struct remote_walk walk;
    struct remote_task_stat
        stat;        /* of before a stop: behind one a thread is on its way to what it did */
    const char *why; /* why it was not stopped, or not read; NULL: nothing to say */
};

/* Looks at a thread, without a stop. */
void remote_thread_look(struct remote_thread *out, const struct remote_source *from, pid_t tid);

/*
 * Walks it; stops it first where it ran, or where the walk needs more than a thread shows asleep.
 *
 * @param out  written; its frames are for free()
 * @return false: the thread is gone
 */
bool remote_thread_walk(struct sfb_remote_thread *out, struct remote_thread *thread,
                        const struct remote_source *from);

/* Walks what was read of it, and no more: the thread has gone on. Else as remote_thread_walk(). */
bool remote_thread_walk_copy(struct sfb_remote_thread *out, struct remote_thread *thread,
                             const struct remote_source *from);

void remote_thread_free(struct remote_thread *thread);

#endif
