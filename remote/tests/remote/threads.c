/*
 * Threads of another process by <sfb/remote.h>: which of them are stopped, and whether their stacks are whole.
 */
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/halt.h"
#include "sfb/remote.h"
#include "support/child.h"
#include "support/compiler.h"
#include "support/test.h"

enum { DEPTH = 20, DEEP = 20000, THREADS_MAX = 1100 };

/* --- The process ---------------------------------------------------------------------------------- */

static struct {
    _Atomic int tids; /* threads that are where they shall be, or soon */
    _Atomic pid_t tid;
    _Atomic int descriptor;
} * shared;

static volatile int sink;

static void arrive(void)
{
    atomic_store(&shared->tid, (pid_t)syscall(SYS_gettid));
    atomic_fetch_add(&shared->tids, 1);
}

NOINLINE static void go_down(unsigned depth, void (*then)(void))
{
    if (depth > 0)
        go_down(depth - 1, then);
    else
        then();
    sink++;
}

static void sleep_there(void)
{
    arrive();
    for (;;)
        pause();
}

static void run_there(void)
{
    arrive();
    for (;;)
        sink++;
}

#if defined(__x86_64__)
/* A system call from a frame whose CFA counts from fp, with nothing further in that saves it. */
NOINLINE static long call_with_frame_pointer(long number, long a, long b, long c, long d)
{
    volatile char *space = alloca((size_t)(sink & 64) + 64);
    long result = number;

    space[0] = 0;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    sink += space[0];
    return result;
}

static void sleep_by_frame_pointer(void)
{
    arrive();
    for (;;)
        call_with_frame_pointer(SYS_rt_sigsuspend, (long)(uintptr_t)(uint64_t[]){ 0 }, 8, 0, 0);
}

static void sleep_with_time_out(void)
{
    struct epoll_event event;

    atomic_store(&shared->descriptor, epoll_create1(0));
    arrive();
    for (;;)
        call_with_frame_pointer(SYS_epoll_wait, atomic_load(&shared->descriptor),
                                (long)(uintptr_t)&event, 1, 1000000);
}
#endif

static void (*in_handler)(void);

static void handler(int signal)
{
    (void)signal;
    go_down(DEPTH, in_handler);
}

/* On another stack, above which the thread's own goes on. */
static void go_to_handler(void)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    const stack_t stack = { .ss_sp = malloc(1 << 20), .ss_size = 1 << 20 };

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void (*what)(void);
static bool ends_first; /* the first thread does */
static int begin_low =
    -1; /* the kernel's last number: threads get numbers below that of the process */
static unsigned how_deep;

static void *start(void *unused)
{
    go_down(how_deep, what);
    return unused;
}

static void start_threads(unsigned count)
{
    pthread_attr_t attributes;
    pthread_t thread;

    if (begin_low >= 0 && write(begin_low, "10000", 5) < 0)
        _exit(1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, how_deep > DEPTH ? 64 << 20 : 256 << 10);
    for (unsigned i = 0; i < count; i++)
        pthread_create(&thread, &attributes, start, NULL);
}

/* @return the process, with so many threads besides its first one, which sleeps */
static pid_t start_process(unsigned count, unsigned depth, void (*then)(void))
{
    pid_t pid;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    how_deep = depth;
    what = then;
    pid = fork();
    if (pid == 0) {
        child_begin();
        start_threads(count);
        if (ends_first)
            pthread_exit(NULL);
        for (;;)
            pause();
    }
    child_limit(pid);
    while (atomic_load(&shared->tids) < (int)count)
        sched_yield();
    return pid;
}

/* --- Reading it ----------------------------------------------------------------------------------- */

static struct sfb_remote_fault fault;
static const struct sfb_remote_options at_once = { .size = sizeof at_once,
                                                   .flags = SFB_REMOTE_CONSISTENT };

static struct sfb_remote *open_process(pid_t pid)
{
    struct sfb_remote *remote = sfb_remote_open(pid, &fault);

    cr_assert(remote != NULL, "%s", fault.why);
    return remote;
}

/* Reads it until its last thread is in a state: it may be on its way there. */
static const struct sfb_remote_thread *read_last(struct sfb_remote *remote, char state,
                                                 uint32_t flags)
{
    const struct sfb_remote_options options = { .size = sizeof options, .flags = flags };
    const struct sfb_remote_thread *threads;
    size_t count;

    do {
        cr_assert(sfb_remote_read(remote, &options, &fault), "%s", fault.why);
        threads = sfb_remote_threads(remote, &count);
        cr_assert(count == 2, "%zu threads", count);
    } while (threads[1].state != state || (state == 'S' && !threads[1].in_call));
    return &threads[1];
}

static size_t frames_in(const struct sfb_remote_thread *t,
                        void (*function)(unsigned, void (*)(void)))
{
    size_t count = 0;

    for (size_t i = 0; i < t->frame_count; i++)
        count += t->frames[i].address - (uintptr_t)function < 64;
    return count;
}

static void expect_whole(const struct sfb_remote_thread *t, unsigned depth)
{
    cr_expect(eq(int, (int)t->end, SFB_END), "%s, %s", sfb_status_str(t->end), t->why);
    cr_expect(eq(sz, frames_in(t, go_down), depth + 1), "of %zu frames", t->frame_count);
}

static void end_process(struct sfb_remote *remote, pid_t pid)
{
    sfb_remote_close(remote);
    cr_expect(child_end(pid));
}

/* Sanitizers build with frame pointers, which pause() does not save. */
static void expect_asleep(const struct sfb_remote_thread *t)
{
    cr_expect(eq(int, (int)t->how, sanitized() ? SFB_REMOTE_STOPPED : SFB_REMOTE_ASLEEP));
}

Test(threads, that_sleep_are_whole_and_not_stopped)
{
    const pid_t pid = start_process(1, DEPTH, sleep_there);
    struct sfb_remote *remote = open_process(pid);
    const struct sfb_remote_thread *t = read_last(remote, 'S', 0);

    expect_asleep(t);
    cr_expect(eq(int, (int)t->tid, atomic_load(&shared->tid)));
    cr_expect(strstr("pause ppoll", sfb_remote_call_name(t->call)) != NULL, "%ld", (long)t->call);
    expect_whole(t, DEPTH);
    end_process(remote, pid);
}

Test(threads, that_run_are_stopped_and_go_on)
{
    const pid_t pid = start_process(1, DEPTH, run_there);
    struct sfb_remote *remote = open_process(pid);
    const struct sfb_remote_thread *t = read_last(remote, 'R', 0);
    const uint64_t before = t->cpu_time;

    cr_expect(eq(int, (int)t->how, SFB_REMOTE_STOPPED));
    expect_whole(t, DEPTH);
    do
        t = read_last(remote, 'R', SFB_REMOTE_NO_STOP);
    while (t->cpu_time <= before);
    cr_expect(eq(int, (int)t->how, SFB_REMOTE_UNREAD));
    cr_expect(eq(sz, t->frame_count, 0));
    cr_expect(t->why != NULL);
    end_process(remote, pid);
}

/* A frame of go_down() has 16 bytes or more: more than is copied at first. */
Test(threads, with_deep_stacks_are_whole)
{
    static void (*const kinds[])(void) = { sleep_there, run_there };

    for (unsigned i = 0; i < 2; i++) {
        const pid_t pid = start_process(1, DEEP, kinds[i]);
        struct sfb_remote *remote = open_process(pid);

        expect_whole(read_last(remote, i == 0 ? 'S' : 'R', 0), DEEP);
        end_process(remote, pid);
    }
}

Test(threads, in_a_handler_on_another_stack_are_whole)
{
    static void (*const kinds[])(void) = { sleep_there, run_there };

    for (unsigned k = 0; k < 2; k++) {
        const struct sfb_remote_thread *t;
        struct sfb_remote *remote;
        size_t interrupted = 0;
        pid_t pid;

        in_handler = kinds[k];
        pid = start_process(1, DEPTH, go_to_handler);
        remote = open_process(pid);
        t = read_last(remote, k == 0 ? 'S' : 'R', 0);
        expect_whole(t, 2 * DEPTH + 1);
        for (size_t i = 1; i < t->frame_count; i++)
            interrupted += t->frames[i].kind == SFB_FRAME_PC;
        cr_expect(eq(sz, interrupted, 1));
        end_process(remote, pid);
    }
}

/* As on a machine whose numbers began again between the process and its threads. */
Test(threads, of_lower_numbers_stand_behind_the_first_one)
{
    const int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

    if (last < 0) {
        SAY_SKIPPED("threads: the kernel's last number: not this user's to set");
        return;
    }
    for (unsigned tries = 0; tries < 100;
         tries++) { /* another process may have set it, or been in between */
        const struct sfb_remote_thread *threads;
        struct sfb_remote *remote;
        size_t count;
        pid_t pid;

        cr_assert(write(last, "20000", 5) == 5);
        begin_low = last;
        pid = start_process(1, DEPTH, sleep_there);
        remote = open_process(pid);
        cr_assert(sfb_remote_read(remote, NULL, &fault), "%s", fault.why);
        threads = sfb_remote_threads(remote, &count);
        cr_assert(eq(sz, count, 2));
        cr_expect(eq(int, threads[0].tid, pid));
        cr_expect(eq(int, threads[1].tid, atomic_load(&shared->tid)));
        count = threads[1].tid < pid;
        end_process(remote, pid);
        if (count > 0)
            break;
    }
    close(last);
}

#if defined(__x86_64__)
Test(threads, are_stopped_where_fp_is_needed)
{
    const pid_t pid = start_process(1, DEPTH, sleep_by_frame_pointer);
    struct sfb_remote *remote = open_process(pid);
    const struct sfb_remote_thread *t = read_last(remote, 'S', 0);

    cr_expect(eq(int, (int)t->how, SFB_REMOTE_STOPPED));
    expect_whole(t, DEPTH);
    t = read_last(remote, 'S', SFB_REMOTE_NO_STOP);
    cr_expect(eq(int, (int)t->how, SFB_REMOTE_ASLEEP));
    cr_expect(eq(sz, t->frame_count, 1), "no guess");
    cr_expect(t->end != SFB_END && t->why != NULL);
    end_process(remote, pid);
}

Test(threads, are_not_stopped_in_a_call_with_a_time_out)
{
    const pid_t pid = start_process(1, DEPTH, sleep_with_time_out);
    struct sfb_remote *remote = open_process(pid);
    const struct sfb_remote_thread *t = read_last(remote, 'S', 0);

    cr_expect(eq(int, (int)t->how, SFB_REMOTE_ASLEEP));
    cr_expect(eq(sz, t->frame_count, 1), "no guess");
    cr_expect(t->why != NULL && strstr(t->why, "time-out") != NULL, "%s", t->why);
    end_process(remote, pid);
}
#endif

/* The first thread has no memory then, and /proc/PID nothing of it. */
Test(threads, are_read_when_the_first_one_has_ended)
{
    const struct sfb_remote_thread *threads;
    struct sfb_remote *remote;
    size_t count;
    pid_t pid;

    ends_first = true;
    pid = start_process(1, DEPTH, sleep_there);
    remote = open_process(pid);
    do {
        cr_assert(sfb_remote_read(remote, NULL, &fault), "%s", fault.why);
        threads = sfb_remote_threads(remote, &count);
        cr_assert(eq(sz, count, 2));
    } while (threads[0].state != 'Z' || !threads[1].in_call);
    /* The first thread may have ended in the middle of that. */
    cr_assert(sfb_remote_read(remote, NULL, &fault), "%s", fault.why);
    threads = sfb_remote_threads(remote, &count);
    cr_assert(eq(sz, count, 2));
    expect_whole(&threads[1], DEPTH);
    cr_expect(eq(int, (int)sfb_remote_memory_pid(remote), (int)threads[1].tid));
    cr_assert(sfb_remote_read(remote, &at_once, &fault), "%s", fault.why);
    threads = sfb_remote_threads(remote, &count);
    cr_assert(eq(sz, count, 2));
    cr_expect(eq(int, (int)threads[0].how, SFB_REMOTE_UNREAD));
    cr_expect(eq(int, threads[0].state, 'Z'));
    expect_whole(&threads[1], DEPTH);
    sfb_remote_close(remote);
    remote = open_process(pid);
    cr_expect(sfb_remote_read(remote, NULL, &fault), "opened after that: %s", fault.why);
    end_process(remote, pid);
}

Test(threads, of_a_stopped_process_are_read_and_stay_stopped)
{
    const pid_t pid = start_process(1, DEPTH, run_there);
    const struct sfb_remote_thread *t;
    struct sfb_remote *remote;

    kill(pid, SIGSTOP);
    remote = open_process(pid);
    for (unsigned i = 0; i < 3; i++) {
        t = read_last(remote, 'T', i == 1 ? SFB_REMOTE_CONSISTENT : 0);
        expect_whole(t, DEPTH);
    }
    end_process(remote, pid);
}

static void *come_and_go(void *unused)
{
    pthread_t thread;

    atomic_fetch_add(&shared->tids, 1);
    pthread_detach(pthread_self());
    pthread_create(&thread, NULL, come_and_go, NULL);
    return unused;
}

static void begin_to_come_and_go(void)
{
    come_and_go(NULL);
    pthread_exit(NULL);
}

/* A thread may be gone at any moment of a read. */
Test(threads, that_come_and_go_are_no_fault)
{
    const pid_t pid = start_process(4, 0, begin_to_come_and_go);
    struct sfb_remote *remote = open_process(pid);
    size_t count, most = 0;

    for (unsigned i = 0; i < 300; i++) {
        const int before = atomic_load(&shared->tids);

        cr_assert(sfb_remote_read(remote, NULL, &fault), "%s", fault.why);
        sfb_remote_threads(remote, &count);
        most = count > most ? count : most;
        while (atomic_load(&shared->tids) == before)
            sched_yield();
    }
    cr_expect(most > 1);
    end_process(remote, pid);
}

Test(threads, are_read_by_the_thousand)
{
    const struct sfb_remote_thread *threads;
    const pid_t pid = start_process(1000, DEPTH, sleep_there);
    struct sfb_remote *remote = open_process(pid);
    size_t count, asleep, whole;

    do {
        cr_assert(sfb_remote_read(remote, NULL, &fault), "%s", fault.why);
        threads = sfb_remote_threads(remote, &count);
        asleep = whole = 0;
        for (size_t i = 0; i < count; i++) {
            asleep += threads[i].in_call;
            whole += threads[i].end == SFB_END;
        }
        cr_assert(eq(sz, count, 1001));
        cr_assert(eq(sz, whole, 1001));
    } while (asleep < 1001);
    end_process(remote, pid);
}

/* --- What cannot be read -------------------------------------------------------------------------- */

static void expect_fault(pid_t pid, const char *why)
{
    struct sfb_remote *remote = sfb_remote_open(pid, &fault);

    cr_expect(remote == NULL && strstr(fault.why, why) != NULL, "'%s', not '%s'", fault.why, why);
    sfb_remote_close(remote);
}

Test(threads, of_no_process_are_a_fault)
{
    siginfo_t ended;
    pid_t pid;

    expect_fault(INT32_MAX, "no such process");
    signal(SIGCHLD, SIG_DFL);
    pid = fork();
    if (pid == 0)
        _exit(0);
    cr_assert(eq(int, waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0));
    expect_fault(pid, "zombie");
}

Test(threads, of_the_kernel_are_a_fault)
{
    if (access("/proc/2/task/2/stat", R_OK) != 0 || access("/proc/2/exe", F_OK) == 0)
        cr_skip_test("there is no thread of the kernel as process 2");
    expect_fault(2, "kernel");
}

static void be_a_user(void)
{
    enum { NOBODY = 65534 };

    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(2);
}

/* As an ordinary user: root may read all. */
static void expect_fault_of_user(pid_t pid, const char *why)
{
    const pid_t reader = fork();
    int status = -1;

    if (reader == 0) {
        be_a_user();
        _exit(!sfb_remote_open(pid, &fault) && strstr(fault.why, why) ? 0 : 1);
    }
    cr_expect(eq(int, waitpid(reader, &status, 0), reader));
    cr_expect(eq(int, status, 0), "%s", why);
}

static void refuse_there(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    sleep_there();
}

static void become_user_and_refuse(void)
{
    be_a_user();
    refuse_there();
}

Test(threads, of_others_are_a_fault_that_says_what_to_do)
{
    static const struct {
        void (*then)(void);
        const char *why;
    } cases[] = {
        { sleep_there, "belongs to user 0" },
        { become_user_and_refuse, "PR_SET_DUMPABLE" },
    };

    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pid_t pid = start_process(1, DEPTH, cases[i].then);

        expect_fault_of_user(pid, cases[i].why);
        cr_expect(child_end(pid));
    }
}

/* A child of the reader that ends instead of a stop: its status is for the code that has started it. */
Test(threads, that_end_before_they_stop_leave_their_status)
{
    const pid_t pid = fork();
    struct remote_halt halt;
    siginfo_t ended;
    int status = 0;

    if (pid == 0)
        for (;;)
            pause();
    cr_assert(pid > 0);
    cr_assert(eq(int, (int)remote_halt_ask(pid), REMOTE_HALTED));
    kill(pid, SIGKILL);
    cr_assert(eq(int, waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT | __WALL), 0));
    cr_expect(eq(int, (int)remote_halt_wait(&halt, pid), REMOTE_HALT_GONE));
    cr_expect(eq(int, waitpid(pid, &status, 0), pid));
    cr_expect(eq(int, WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGKILL));
}

static void *wait_in_thread(void *none)
{
    arrive();
    for (;;)
        pause();
    return none;
}

/* The tracer has to take the end of another thread: until then the process would be none of the ended ones. */
Test(threads, of_a_child_end_with_it)
{
    struct remote_halt halt;
    siginfo_t ended = { .si_pid = 0 };
    pthread_t thread;
    pid_t pid, tid;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid = fork();
    if (pid == 0) {
        pthread_create(&thread, NULL, wait_in_thread, NULL);
        pthread_join(thread, NULL);
    }
    while (atomic_load(&shared->tids) == 0)
        sched_yield();
    tid = atomic_load(&shared->tid);
    cr_assert(eq(int, (int)remote_halt_ask(tid), REMOTE_HALTED));
    kill(pid, SIGKILL);
    cr_assert(eq(int, waitid(P_PID, (id_t)tid, &ended, WEXITED | WNOWAIT | __WALL), 0));
    cr_expect(eq(int, (int)remote_halt_wait(&halt, tid), REMOTE_HALT_GONE));
    cr_expect(eq(int, waitid(P_PID, (id_t)pid, &ended, WEXITED), 0));
    cr_expect(eq(int, ended.si_pid, pid));
    munmap(shared, sizeof *shared);
}
