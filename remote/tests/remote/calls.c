/*
 * A stop costs no thread its system call: every call of signal(7)'s lists, stopped 10,000 times in all, and none of them
 * ends. (But ioctl(): no device is everywhere on which one waits; and getrandom(), which waits at the start of the machine.)
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "remote/call_restart.h"
#include "remote/thread_stop.h"
#include "sfb/remote.h"
#include "support/child.h"
#include "support/test.h"

enum { LOOKS = 10000, LONG = 100000 /* seconds */ };

/* --- Calls ---------------------------------------------------------------------------------------- */

static int locked_file(void)
{
    int fd = memfd_create("locked", 0);

    return fd;
}

static int a_socket(bool listens, bool timed)
{
    const struct timeval timeout = { .tv_sec = LONG };
    struct sockaddr_un any = { .sun_family = AF_UNIX };
    int pair[2], fd;

    if (listens) {
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        cr_assert(zero(int, bind(fd, (struct sockaddr *)&any, sizeof(sa_family_t))));
        cr_assert(zero(int, listen(fd, 1)));
    } else {
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        fd = pair[0];
    }
    if (timed)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    return fd;
}

/* Shared with the process that makes the calls. */
static struct {
    _Atomic pid_t tid[64];
    _Atomic int ended[64];    /* errno; -1: without an error */
    _Atomic int semaphore[2]; /* identifiers: nothing else removes what System V has */
    _Atomic int queue, full_queue;
} * shared;

static const struct timespec long_time = { .tv_sec = LONG };
static char byte[64];

static struct timespec far_off(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += LONG;
    return time;
}

static long epoll(int timeout, bool masked)
{
    struct epoll_event event;
    sigset_t none;
    int fd = epoll_create1(0), error;
    long result;

    sigemptyset(&none);
    result =
        masked ? epoll_pwait(fd, &event, 1, timeout, &none) : epoll_wait(fd, &event, 1, timeout);
    error = errno;
    close(fd);
    errno = error;
    return result;
}

static long call_epoll_wait(void)
{
    return epoll(-1, false);
}
static long call_epoll_wait_timed(void)
{
    return epoll(LONG * 1000, false);
}
static long call_epoll_pwait(void)
{
    return epoll(-1, true);
}

static long signal_wait(const struct timespec *timeout)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2); /* blocked by all threads */
    return sigtimedwait(&set, NULL, timeout);
}

static long call_epoll_pwait_timed(void)
{
    return epoll(LONG * 1000, true);
}

static long call_sigwaitinfo(void)
{
    return signal_wait(NULL);
}
static long call_sigtimedwait(void)
{
    return signal_wait(&long_time);
}

static long semaphore(const struct timespec *timeout)
{
    struct sembuf down = { .sem_op = -1 };
    int id = semget(IPC_PRIVATE, 1, 0600);

    atomic_store(&shared->semaphore[timeout != NULL], id);
    return timeout ? semtimedop(id, &down, 1, timeout) : semop(id, &down, 1);
}

static long call_semop(void)
{
    return semaphore(NULL);
}
static long call_semtimedop(void)
{
    return semaphore(&long_time);
}

static long io_events(const struct timespec *timeout)
{
    aio_context_t context = 0;
    struct io_event event;

    syscall(SYS_io_setup, 1, &context);
    return syscall(SYS_io_getevents, context, 1, 1, &event, timeout);
}

static long call_io_getevents(void)
{
    return io_events(NULL);
}
static long call_io_getevents_timed(void)
{
    return io_events(&long_time);
}

static long call_recv(void)
{
    return recv(a_socket(false, false), byte, 1, 0);
}
static long call_recv_timed(void)
{
    return recv(a_socket(false, true), byte, 1, 0);
}
static long call_accept(void)
{
    return accept(a_socket(true, false), NULL, NULL);
}
static long call_accept_timed(void)
{
    return accept(a_socket(true, true), NULL, NULL);
}

static long call_poll(void)
{
    return poll(NULL, 0, LONG * 1000);
}
static long call_ppoll(void)
{
    return ppoll(NULL, 0, &long_time, NULL);
}

static long call_select(void)
{
    struct timeval left = { .tv_sec = LONG };

    return select(0, NULL, NULL, NULL, &left);
}

static long call_pselect(void)
{
    return pselect(0, NULL, NULL, NULL, &long_time, NULL);
}
static long call_nanosleep(void)
{
    return syscall(SYS_nanosleep, &long_time, NULL);
}

static long call_clock_nanosleep(void)
{
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
}

static uint32_t word;

static long call_futex(void)
{
    return syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static long call_futex_timed(void)
{
    return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &long_time, NULL, 0);
}

static long call_futex_bitset(void)
{
    const struct timespec until = far_off();

    return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &until, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}

static long call_pause(void)
{
    return pause();
}

static long call_sigsuspend(void)
{
    sigset_t none;

    sigemptyset(&none);
    return sigsuspend(&none);
}

static pid_t sleeping_child(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        for (;;)
            pause();
    }
    return pid;
}

static long call_wait4(void)
{
    return waitpid(sleeping_child(), NULL, 0);
}

static long call_waitid(void)
{
    siginfo_t info;

    return waitid(P_PID, (id_t)sleeping_child(), &info, WEXITED);
}

static long call_read_pipe(void)
{
    int ends[2];

    return pipe(ends) == 0 ? read(ends[0], byte, 1) : 0;
}

static long call_read_eventfd(void)
{
    return read(eventfd(0, 0), byte, 8);
}
static long call_read_inotify(void)
{
    return read(inotify_init1(0), byte, sizeof byte);
}

static long call_msgrcv(void)
{
    struct {
        long type;
        char text[8];
    } message;

    atomic_store(&shared->queue, msgget(IPC_PRIVATE, 0600));
    return msgrcv(atomic_load(&shared->queue), &message, sizeof message.text, 0, 0);
}

/* --- Full pipes, sockets and queues --------------------------------------------------------------- */

/* @return the descriptor: no byte can be written to it */
static int fill(int fd)
{
    const int flags = fcntl(fd, F_GETFL);

    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, byte, 1) == 1)
        ;
    fcntl(fd, F_SETFL, flags);
    return fd;
}

static int full_pipe(void)
{
    int ends[2];

    return pipe(ends) == 0 ? fill(ends[1]) : -1;
}

static struct iovec one_byte = { byte, 1 };
static struct msghdr one_message = { .msg_iov = &one_byte, .msg_iovlen = 1 };

static long call_write_pipe(void)
{
    return write(full_pipe(), byte, 1);
}
static long call_writev_pipe(void)
{
    return writev(full_pipe(), &one_byte, 1);
}

static long call_readv_pipe(void)
{
    int ends[2];

    return pipe(ends) == 0 ? readv(ends[0], &one_byte, 1) : 0;
}

static int full_socket(bool timed)
{
    const struct timeval timeout = { .tv_sec = LONG };
    const int fd = fill(a_socket(false, false));

    if (timed)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    return fd;
}

static long call_send(void)
{
    return send(full_socket(false), byte, 1, 0);
}
static long call_send_timed(void)
{
    return send(full_socket(true), byte, 1, 0);
}
static long call_sendmsg(void)
{
    return sendmsg(full_socket(false), &one_message, 0);
}
static long call_sendmsg_timed(void)
{
    return sendmsg(full_socket(true), &one_message, 0);
}
static long call_recvmsg(void)
{
    struct msghdr message = one_message;

    return recvmsg(a_socket(false, false), &message, 0);
}
static long call_recvmsg_timed(void)
{
    struct msghdr message = one_message;

    return recvmsg(a_socket(false, true), &message, 0);
}

static long receive_many(struct timespec *timeout)
{
    struct mmsghdr messages = { .msg_hdr = one_message };

    return recvmmsg(a_socket(false, false), &messages, 1, MSG_WAITFORONE, timeout);
}

static long call_recvmmsg(void)
{
    return receive_many(NULL);
}
static long call_recvmmsg_timed(void)
{
    struct timespec left = long_time;

    return receive_many(&left);
}

/* To a socket that listens and has no room for another one. */
static long connect_to_full(bool timed)
{
    const struct timeval timeout = { .tv_sec = LONG };
    const int listener = a_socket(true, false);
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    int fd;

    getsockname(listener, (struct sockaddr *)&address, &size);
    do
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    while (connect(fd, (struct sockaddr *)&address, size) == 0);
    fcntl(fd, F_SETFL, 0);
    if (timed)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    return connect(fd, (struct sockaddr *)&address, size);
}

static long call_connect(void)
{
    return connect_to_full(false);
}
static long call_connect_timed(void)
{
    return connect_to_full(true);
}

/* Of one message. @return -1: this kernel has no such queues, and the thread does without */
static mqd_t message_queue(bool full)
{
    struct mq_attr of_one = { .mq_maxmsg = 1, .mq_msgsize = 1 };
    char name[64];
    mqd_t queue;

    snprintf(name, sizeof name, "/sfb-calls-%d", (int)syscall(SYS_gettid));
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &of_one);
    mq_unlink(name);
    if (queue >= 0 && full)
        mq_send(queue, byte, 1, 0);
    return queue;
}

static long call_mq_receive(void)
{
    const mqd_t queue = message_queue(false);

    return queue < 0 ? pause() : mq_receive(queue, byte, 1, NULL);
}
static long call_mq_timedreceive(void)
{
    const struct timespec until = far_off();
    const mqd_t queue = message_queue(false);

    return queue < 0 ? pause() : mq_timedreceive(queue, byte, 1, NULL, &until);
}
static long call_mq_send(void)
{
    const mqd_t queue = message_queue(true);

    return queue < 0 ? pause() : mq_send(queue, byte, 1, 0);
}
static long call_mq_timedsend(void)
{
    const struct timespec until = far_off();
    const mqd_t queue = message_queue(true);

    return queue < 0 ? pause() : mq_timedsend(queue, byte, 1, 0, &until);
}

static long call_msgsnd(void)
{
    const struct {
        long type;
        char text[1024];
    } message = { .type = 1 };
    const int id = msgget(IPC_PRIVATE, 0600);

    atomic_store(&shared->full_queue, id);
    while (msgsnd(id, &message, sizeof message.text, IPC_NOWAIT) == 0)
        ;
    return msgsnd(id, &message, sizeof message.text, 0);
}

/* --- Files ---------------------------------------------------------------------------------------- */

static long call_open_fifo(void)
{
    char path[64];

    snprintf(path, sizeof path, "/tmp/sfb-fifo-%d", (int)getpid());
    return mkfifo(path, 0600) == 0 ? open(path, O_RDONLY) : 0;
}

static long call_read_terminal(void)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    char path[64];

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        ptsname_r(master, path, sizeof path) != 0)
        return pause();
    return read(open(path, O_RDWR | O_NOCTTY), byte, 1);
}

/* A lock that another process has. */
static long call_setlkw(void)
{
    struct flock lock = { .l_type = F_WRLCK }, seen;
    const int fd = locked_file();

    if (fork() == 0) {
        fcntl(fd, F_SETLK, &lock);
        for (;;)
            pause();
    }
    do {
        seen = lock;
        fcntl(fd, F_GETLK, &seen);
    } while (seen.l_type == F_UNLCK);
    return fcntl(fd, F_SETLKW, &lock);
}

static long call_flock(void)
{
    char path[64];
    int fd = locked_file();

    flock(fd, LOCK_EX);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return flock(open(path, O_RDWR), LOCK_EX);
}

static long call_fcntl(void)
{
    struct flock lock = { .l_type = F_WRLCK };
    char path[64];
    int fd = locked_file();

    fcntl(fd, F_OFD_SETLKW, &lock);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fcntl(open(path, O_RDWR), F_OFD_SETLKW, &lock);
}

static const struct {
    const char *name;
    long (*make)(void);
    bool timed; /* the thread is not stopped while it sleeps there */
} calls[] = {
    { "epoll_wait", call_epoll_wait, false },
    { "epoll_wait with a time-out", call_epoll_wait_timed, true },
    { "epoll_pwait", call_epoll_pwait, false },
    { "sigwaitinfo", call_sigwaitinfo, false },
    { "sigtimedwait", call_sigtimedwait, true },
    { "semop", call_semop, false },
    { "semtimedop", call_semtimedop, true },
    { "io_getevents", call_io_getevents, false },
    { "io_getevents with a time-out", call_io_getevents_timed, true },
    { "recv", call_recv, false },
    { "recv with a time-out", call_recv_timed, true },
    { "accept", call_accept, false },
    { "accept with a time-out", call_accept_timed, true },
    { "poll", call_poll, false },
    { "ppoll", call_ppoll, false },
    { "select", call_select, false },
    { "pselect", call_pselect, false },
    { "nanosleep", call_nanosleep, false },
    { "clock_nanosleep", call_clock_nanosleep, false },
    { "futex", call_futex, false },
    { "futex with a time-out", call_futex_timed, false },
    { "pause", call_pause, false },
    { "sigsuspend", call_sigsuspend, false },
    { "wait4", call_wait4, false },
    { "waitid", call_waitid, false },
    { "read of a pipe", call_read_pipe, false },
    { "read of an eventfd", call_read_eventfd, false },
    { "read of inotify", call_read_inotify, false },
    { "msgrcv", call_msgrcv, false },
    { "flock", call_flock, false },
    { "fcntl", call_fcntl, false },
    { "fcntl of another process", call_setlkw, false },
    { "epoll_pwait with a time-out", call_epoll_pwait_timed, true },
    { "futex with a point in time", call_futex_bitset, false },
    { "write to a full pipe", call_write_pipe, false },
    { "writev to a full pipe", call_writev_pipe, false },
    { "readv of a pipe", call_readv_pipe, false },
    { "send", call_send, false },
    { "send with a time-out", call_send_timed, true },
    { "sendmsg", call_sendmsg, false },
    { "sendmsg with a time-out", call_sendmsg_timed, true },
    { "recvmsg", call_recvmsg, false },
    { "recvmsg with a time-out", call_recvmsg_timed, true },
    { "recvmmsg", call_recvmmsg, true },
    { "recvmmsg with a time-out", call_recvmmsg_timed, true },
    { "connect", call_connect, false },
    { "connect with a time-out", call_connect_timed, true },
    { "mq_receive", call_mq_receive, false },
    { "mq_timedreceive", call_mq_timedreceive, false },
    { "mq_send", call_mq_send, false },
    { "mq_timedsend", call_mq_timedsend, false },
    { "msgsnd", call_msgsnd, false },
    { "open of a FIFO", call_open_fifo, false },
    { "read of a terminal", call_read_terminal, false },
};

enum { CALLS = sizeof calls / sizeof *calls };

/* --- The process ---------------------------------------------------------------------------------- */

_Static_assert(CALLS <= sizeof shared->tid / sizeof *shared->tid, "there is room");

static void *run_call(void *index)
{
    const size_t i = (size_t)(uintptr_t)index;
    long result;

    atomic_store(&shared->tid[i], (pid_t)syscall(SYS_gettid));
    errno = 0;
    result = calls[i].make();
    atomic_store(&shared->ended[i], result < 0 ? errno : -1);
    pause();
    return NULL;
}

static void be_threads(void *(*run)(void *), size_t count)
{
    pthread_t thread;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < count; i++)
        pthread_create(&thread, NULL, run, (void *)(uintptr_t)i);
    for (;;)
        pause();
}

static int tasks;
static struct remote_memory memory;

static pid_t start_process(void)
{
    char path[64];
    pid_t pid;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid = fork();
    if (pid == 0) {
        child_begin();
        be_threads(run_call, CALLS);
    }
    child_limit(pid);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    tasks = open(path, O_RDONLY | O_DIRECTORY);
    cr_assert(remote_memory_open(&memory, pid));
    return pid;
}

static void end_process(pid_t pid)
{
    char path[64];

    cr_expect(child_end(pid));
    semctl(atomic_load(&shared->semaphore[0]), 0, IPC_RMID);
    semctl(atomic_load(&shared->semaphore[1]), 0, IPC_RMID);
    msgctl(atomic_load(&shared->queue), IPC_RMID, NULL);
    msgctl(atomic_load(&shared->full_queue), IPC_RMID, NULL);
    snprintf(path, sizeof path, "/tmp/sfb-fifo-%d", (int)pid);
    unlink(path);
    close(tasks);
    remote_memory_close(&memory);
}

/* On its way there it may wait for a lock of the kernel, which is state D, or for one of malloc(). */
static bool is_there(const struct remote_look *look, size_t i)
{
    struct remote_task_stat stat;

    return look->call.in_call &&
           (look->call.number != SYS_futex || strstr(calls[i].name, "futex") != NULL) &&
           remote_task_stat_read(&stat, tasks, look->tid) && stat.state == 'S' &&
           remote_look_holds(look, tasks);
}

/* Waits until a thread sleeps in its call, and gives that one's number. */
static int64_t wait_for_call(size_t i, struct remote_look *look)
{
    pid_t tid;

    while ((tid = atomic_load(&shared->tid[i])) == 0)
        sched_yield();
    while (atomic_load(&shared->ended[i]) == 0 &&
           (remote_look_asleep(look, &memory, tasks, tid, 4096) != REMOTE_LOOK_DONE ||
            !is_there(look, i)))
        sched_yield();
    return look->call.number;
}

Test(calls, are_not_ended_by_a_stop)
{
    const pid_t pid = start_process();
    struct remote_look look = { .tid = 0 };
    const struct remote_wanted wanted = { .most = 4096 };
    int64_t number[CALLS];
    const char *cause;

    for (size_t i = 0; i < CALLS; i++)
        number[i] = wait_for_call(i, &look);
    for (unsigned n = 0; n < LOOKS; n++) {
        const pid_t tid = atomic_load(&shared->tid[n % CALLS]);

        cr_assert(eq(int,
                     (int)remote_look_stopped(&look, &memory, tasks, tid, &wanted, false, &cause),
                     REMOTE_LOOK_DONE),
                  "%s: %s", calls[n % CALLS].name, cause);
    }
    for (size_t i = 0; i < CALLS; i++) {
        const int64_t now = wait_for_call(i, &look);

        cr_expect(eq(int, atomic_load(&shared->ended[i]), 0), "%s ended: %s", calls[i].name,
                  strerror(atomic_load(&shared->ended[i])));
        cr_expect(now == number[i] || now == SYS_restart_syscall, "%s", calls[i].name);
    }
    remote_look_free(&look);
    end_process(pid);
}

/* --- Calls in a loop ------------------------------------------------------------------------------ */

static const struct timespec short_time = { .tv_nsec = 1000000 };

static long loop_epoll(void)
{
    return epoll(1, false);
}

static long loop_signal(void)
{
    return signal_wait(&short_time);
}

static long loop_events(void)
{
    static aio_context_t context;
    struct io_event event;

    if (context == 0)
        syscall(SYS_io_setup, 1, &context);
    return syscall(SYS_io_getevents, context, 1, 1, &event, &short_time);
}

static long loop_recv(void)
{
    static int fd = -1;
    const struct timeval timeout = { .tv_usec = 1000 };

    if (fd < 0) {
        fd = a_socket(false, false);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    }
    return recv(fd, byte, 1, 0);
}

static long (*const loops[])(void) = { loop_epoll, loop_signal, loop_events, loop_recv };

enum { LOOPS = sizeof loops / sizeof *loops };

static void *run_loop(void *index)
{
    const size_t i = (size_t)(uintptr_t)index;

    for (;;) {
        /* It is seen running, and is stopped in the call. */
        for (volatile unsigned work = 0; work < 200000; work++)
            ;
        errno = 0;
        if (loops[i]() < 0 && errno == EINTR)
            atomic_store(&shared->ended[i], EINTR);
        atomic_fetch_add(&shared->tid[i], 1); /* as a count */
    }
    return NULL;
}

/* By the front door: which threads it stops depends on where they are. */
Test(calls, in_a_loop_see_no_eintr)
{
    enum { READS = 1000 };
    struct sfb_remote_fault fault;
    const struct sfb_remote_thread *threads;
    struct sfb_remote *remote;
    size_t count, stops = 0;
    pid_t pid;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid = fork();
    if (pid == 0) {
        child_begin();
        be_threads(run_loop, LOOPS);
    }
    child_limit(pid);
    for (size_t i = 0; i < LOOPS; i++)
        while (atomic_load(&shared->tid[i]) < 2)
            sched_yield();
    remote = sfb_remote_open(pid, &fault);
    cr_assert(remote != NULL, "%s", fault.why);
    for (unsigned n = 0; n < READS; n++) {
        cr_assert(sfb_remote_read(remote, NULL, &fault), "%s", fault.why);
        threads = sfb_remote_threads(remote, &count);
        for (size_t i = 0; i < count; i++)
            stops += threads[i].how == SFB_REMOTE_STOPPED;
    }
    sfb_remote_close(remote);
    for (size_t i = 0; i < LOOPS; i++)
        cr_expect(eq(int, atomic_load(&shared->ended[i]), 0), "loop %zu, of %zu stops", i, stops);
    cr_expect(lt(sz, 0, stops));
    cr_expect(child_end(pid));
}

/* All at once, and each for as long as all of them are stopped. */
Test(calls, are_not_ended_by_a_stop_of_all_threads)
{
    enum { READS = 100 };
    const struct sfb_remote_options options = { .size = sizeof options,
                                                .flags = SFB_REMOTE_CONSISTENT };
    const pid_t pid = start_process();
    struct remote_look look = { .tid = 0 };
    struct sfb_remote_fault fault;
    struct sfb_remote *remote;

    for (size_t i = 0; i < CALLS; i++)
        wait_for_call(i, &look);
    remote = sfb_remote_open(pid, &fault);
    cr_assert(remote != NULL, "%s", fault.why);
    for (unsigned n = 0; n < READS; n++)
        cr_assert(sfb_remote_read(remote, &options, &fault), "%s", fault.why);
    sfb_remote_close(remote);
    for (size_t i = 0; i < CALLS; i++) {
        wait_for_call(i, &look);
        cr_expect(zero(int, atomic_load(&shared->ended[i])), "%s ended: %s", calls[i].name,
                  strerror(atomic_load(&shared->ended[i])));
    }
    remote_look_free(&look);
    end_process(pid);
}

Test(calls, with_a_time_out_are_left_alone_where_a_stop_would_begin_it_anew)
{
    const pid_t pid = start_process();
    struct remote_look look = { .tid = 0 };

    for (size_t i = 0; i < CALLS; i++) {
        wait_for_call(i, &look);
        cr_expect(eq(int, remote_call_forbids_stop(&look.call, pid) != NULL, calls[i].timed), "%s",
                  calls[i].name);
    }
    remote_look_free(&look);
    end_process(pid);
}
