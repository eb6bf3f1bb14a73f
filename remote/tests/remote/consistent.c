/*
 * Threads of another process that are stopped together: their stacks are of one moment, whatever becomes of the program that
 * stopped them.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sfb/remote.h"
#include "support/child.h"
#include "support/compiler.h"
#include "support/test.h"

enum { RUNNERS = 2 };

/* --- The process: threads that take turns ---------------------------------------------------------- */

static struct {
    _Atomic unsigned turn;
    _Atomic uint64_t turns; /* taken */
    _Atomic bool waits;     /* the thread with a time-out is there */
} * shared;

static volatile unsigned sink;

/* One thread at a time is in here. */
NOINLINE static void have_turn(void)
{
    for (unsigned i = 0; i < 200000; i++)
        sink++;
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void *take_turns(void *number)
{
    const unsigned own = (unsigned)(uintptr_t)number;

    for (;;) {
        while (atomic_load(&shared->turn) != own)
            sched_yield();
        have_turn();
        atomic_fetch_add(&shared->turns, 1);
        atomic_store(&shared->turn, (own + 1) % RUNNERS);
    }
    return NULL;
}

static void *wait_with_time_out(void *unused)
{
    const int fd = epoll_create1(0);
    struct epoll_event event;

    atomic_store(&shared->waits, true);
    epoll_wait(fd, &event, 1, 1000000);
    return unused;
}

static pid_t start_process(void)
{
    pthread_t thread;
    pid_t pid;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid = fork();
    if (pid == 0) {
        child_begin();
        for (uintptr_t i = 0; i < RUNNERS; i++)
            pthread_create(&thread, NULL, take_turns, (void *)i);
        pthread_create(&thread, NULL, wait_with_time_out, NULL);
        for (;;)
            pause();
    }
    child_limit(pid);
    while (atomic_load(&shared->turns) < RUNNERS || !atomic_load(&shared->waits))
        sched_yield();
    return pid;
}

/* Waits until so many turns have been taken, from now on. */
static void wait_for_turns(unsigned count)
{
    const uint64_t before = atomic_load(&shared->turns);

    while (atomic_load(&shared->turns) < before + count)
        sched_yield();
}

/* --- Reading it ----------------------------------------------------------------------------------- */

static const struct sfb_remote_options at_once = { .size = sizeof at_once,
                                                   .flags = SFB_REMOTE_CONSISTENT };

static struct sfb_remote *open_process(pid_t pid)
{
    struct sfb_remote_fault fault;
    struct sfb_remote *remote = sfb_remote_open(pid, &fault);

    cr_assert(remote != NULL, "%s", fault.why);
    return remote;
}

static const struct sfb_remote_thread *read_threads(struct sfb_remote *remote,
                                                    const struct sfb_remote_options *options,
                                                    size_t *count)
{
    struct sfb_remote_fault fault;

    cr_assert(sfb_remote_read(remote, options, &fault), "%s", fault.why);
    return sfb_remote_threads(remote, count);
}

static bool has_turn(const struct sfb_remote_thread *t)
{
    for (size_t i = 0; i < t->frame_count; i++)
        if (t->frames[i].address - (uintptr_t)have_turn < 64)
            return true;
    return false;
}

static size_t count_turns(struct sfb_remote *remote, const struct sfb_remote_options *options)
{
    size_t count, turns = 0;
    const struct sfb_remote_thread *threads = read_threads(remote, options, &count);

    for (size_t i = 1; i < count; i++) /* the first one takes no turns */
        turns += has_turn(&threads[i]);
    return turns;
}

/* Of threads that are read one after the other, two are seen in their turn: that was tried. */
Test(consistent, threads_are_read_at_one_moment)
{
    enum { SEEN = 30 };
    const pid_t pid = start_process();
    struct sfb_remote *remote = open_process(pid);
    size_t seen = 0;

    while (seen < SEEN) {
        const size_t turns = count_turns(remote, &at_once);

        cr_assert(le(sz, turns, 1), "%zu threads have their turn", turns);
        seen += turns;
        wait_for_turns(1);
    }
    sfb_remote_close(remote);
    cr_expect(child_end(pid));
}

Test(consistent, all_are_stopped_but_for_calls_with_a_time_out)
{
    const pid_t pid = start_process();
    struct sfb_remote *remote = open_process(pid);
    const struct sfb_remote_thread *threads;
    size_t count, stopped, asleep;

    do {
        threads = read_threads(remote, &at_once, &count);
        cr_assert(eq(sz, count, RUNNERS + 2));
        stopped = asleep = 0;
        for (size_t i = 0; i < count; i++) {
            stopped += threads[i].how == SFB_REMOTE_STOPPED;
            asleep += threads[i].how == SFB_REMOTE_ASLEEP && threads[i].why &&
                      strstr(threads[i].why, "time-out");
        }
        cr_assert(stopped >= RUNNERS + 1);
    } while (asleep == 0); /* it may be on its way there */
    cr_expect(eq(sz, stopped, RUNNERS + 1));
    sfb_remote_close(remote);
    cr_expect(child_end(pid));
}

Test(consistent, no_stop_is_a_contradiction)
{
    const struct sfb_remote_options both = { .size = sizeof both,
                                             .flags = SFB_REMOTE_CONSISTENT | SFB_REMOTE_NO_STOP };
    struct sfb_remote *remote = open_process(getpid());
    struct sfb_remote_fault fault;

    cr_expect(eq(int, sfb_remote_read(remote, &both, &fault), 0));
    sfb_remote_close(remote);
}

/* Killed between stop and go, too: there it is most of the time. */
Test(consistent, threads_go_on_when_their_reader_is_killed)
{
    enum { KILLS = 40 };
    const pid_t pid = start_process();

    for (unsigned i = 0; i < KILLS; i++) {
        const pid_t reader = fork();

        if (reader == 0) {
            struct sfb_remote_fault fault;
            struct sfb_remote *remote = sfb_remote_open(pid, &fault);

            for (;;)
                sfb_remote_read(remote, &at_once, &fault);
        }
        /* At any moment: the longer, the more stops it has made. */
        for (unsigned spins = 0; spins < 20 * i; spins++)
            sched_yield();
        cr_assert(zero(int, kill(reader, SIGKILL)));
        cr_assert(eq(int, waitpid(reader, NULL, 0), reader));
        wait_for_turns(RUNNERS);
    }
    cr_expect(child_end(pid));
}
