/*
 * calls N: makes calls that a signal would interrupt, N of each kind, with some work before each. Prints how many came
 * back with EINTR: nothing but the agent sends it signals.
 *
 * spin MS, read MS: CPU time in user mode, and in the kernel.
 * forks N: N children that end at once. Prints the page faults of one, in the mean.
 * rounds N: N thousand rounds of a loop, and no system call.
 * load N: loads a library so often. Prints the CPU time in ms.
 * parts MS: CPU time in a system call, in page faults and in user mode, by turns. Prints what each took, in ms.
 * deep N: 300 ms of CPU time in N calls that call each other.
 * late MS: CPU time in a handler that blocks all signals, which interrupts a loop.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, WORK_NS = 150000 };

static unsigned calls;
static volatile unsigned long sink;

/* A small stack has no room for it: that of the agent's sampler has to be larger. */
static _Thread_local volatile char much_storage[128 * 1024];

struct means {
    int sockets[2], epoll, semaphores;
    sem_t semaphore;
};

static struct timespec after(clockid_t clock, long ns)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ns;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int call_poll(struct means *m)
{
    (void)m;
    return poll(NULL, 0, 1);
}

static int call_select(struct means *m)
{
    struct timeval t = { 0, 1000 };

    (void)m;
    return select(0, NULL, NULL, NULL, &t);
}

static int call_recv(struct means *m)
{
    char byte;

    return (int)recv(m->sockets[0], &byte, 1, 0);
}

static int call_semaphore(struct means *m)
{
    const struct timespec end = after(CLOCK_REALTIME, MS);

    return sem_timedwait(&m->semaphore, &end);
}

static int call_epoll(struct means *m)
{
    struct epoll_event event;

    return epoll_wait(m->epoll, &event, 1, 1);
}

static int call_nanosleep(struct means *m)
{
    const struct timespec t = { 0, MS };

    (void)m;
    return nanosleep(&t, NULL);
}

static int call_semtimedop(struct means *m)
{
    const struct timespec t = { 0, MS };
    struct sembuf take = { 0, -1, 0 };

    return semtimedop(m->semaphores, &take, 1, &t);
}

static struct kind {
    const char *name;
    int (*call)(struct means *);
    unsigned interrupted;
} kinds[] = {
    { "poll", call_poll, 0 },
    { "select", call_select, 0 },
    { "recv", call_recv, 0 },
    { "sem_timedwait", call_semaphore, 0 },
    { "epoll_wait", call_epoll, 0 },
    { "nanosleep", call_nanosleep, 0 },
    { "semtimedop", call_semtimedop, 0 },
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void work(void)
{
    const struct timespec end = after(CLOCK_THREAD_CPUTIME_ID, WORK_NS);
    struct timespec now;

    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void *make_calls(void *with)
{
    static const struct timeval limit = { 0, 1000 };
    struct kind *kind = with;
    struct means m = { .epoll = epoll_create1(EPOLL_CLOEXEC) };

    if (m.epoll < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, m.sockets) != 0 ||
        setsockopt(m.sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
        sem_init(&m.semaphore, 0, 0) != 0 || (m.semaphores = semget(IPC_PRIVATE, 1, 0600)) < 0)
        exit(90);
    much_storage[calls % sizeof much_storage] = 1;
    for (unsigned i = 0; i < calls; i++) {
        work();
        errno = 0;
        if (kind->call(&m) < 0 && errno == EINTR)
            kind->interrupted++;
    }
    semctl(m.semaphores, 0, IPC_RMID);
    return NULL;
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int spin(double ms)
{
    while (cpu_ms() < ms)
        for (unsigned i = 0; i < 200000; i++)
            sink += i;
    return 0;
}

static int fork_much(unsigned count)
{
    long faults = 0;

    for (unsigned i = 0; i < count; i++) {
        const pid_t child = fork();
        struct rusage usage;

        if (child == 0)
            _exit(0);
        if (wait4(child, NULL, 0, &usage) != child)
            return 97;
        faults += usage.ru_minflt;
    }
    printf("%ld\n", faults / (long)count);
    return 0;
}

static int loop(unsigned thousands)
{
    for (unsigned long i = 0; i < 1000UL * thousands; i++)
        sink += i;
    return 0;
}

static int load_much(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        void *library = dlopen(i % 2 ? "libm.so.6" : "libresolv.so.2", RTLD_NOW);

        if (!library)
            return 93;
        dlclose(library);
    }
    printf("%f\n", cpu_ms());
    return 0;
}

static __attribute__((noinline)) void part_call(void)
{
    static char bytes[1 << 20];
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    for (unsigned i = 0; i < 8; i++)
        if (read(zero, bytes, sizeof bytes) < 0)
            exit(95);
    close(zero);
}

static __attribute__((noinline)) void part_faults(void)
{
    enum { SIZE = 2 << 20, PAGE = 4096 };
    volatile char *at =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        exit(96);
    for (size_t i = 0; i < SIZE; i += PAGE)
        at[i] = 1;
    munmap((void *)(uintptr_t)at, SIZE);
    sink++; /* it is no tail call */
}

static __attribute__((noinline)) void part_user(void)
{
    for (unsigned i = 0; i < 600000; i++)
        sink += i;
}

static int take_parts(double ms)
{
    void (*const parts[])(void) = { part_call, part_faults, part_user };
    double took[] = { 0, 0, 0 };

    while (cpu_ms() < ms)
        for (unsigned i = 0; i < 3; i++) {
            const double start = cpu_ms();

            parts[i]();
            took[i] += cpu_ms() - start;
        }
    printf("%f %f %f\n", took[0], took[1], took[2]);
    return 0;
}

static int even(unsigned depth);

static __attribute__((noinline)) int odd(unsigned depth)
{
    const int below = depth == 0 ? spin(300) : even(depth - 1);

    sink++; /* it is no tail call */
    return below;
}

static __attribute__((noinline)) int even(unsigned depth)
{
    const int below = depth == 0 ? spin(300) : odd(depth - 1);

    sink += 2;
    return below;
}

static double late_ms;
static volatile sig_atomic_t was_late;

static void block_all(int signal)
{
    (void)signal;
    spin(cpu_ms() + late_ms);
    was_late = 1;
}

static int be_late(double ms)
{
    const struct itimerval soon = { .it_value = { 0, 20000 } };
    struct sigaction action = { .sa_handler = block_all };

    late_ms = ms;
    sigfillset(&action.sa_mask);
    if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &soon, NULL) != 0)
        return 94;
    while (!was_late)
        sink++;
    return spin(cpu_ms() + 50);
}

static int read_much(double ms)
{
    static char bytes[1 << 20];
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    while (cpu_ms() < ms)
        if (read(zero, bytes, sizeof bytes) < 0)
            return 92;
    close(zero);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[KINDS];

    if (argc != 3)
        return 99;
    if (strcmp(argv[1], "spin") == 0)
        return spin(atof(argv[2]));
    if (strcmp(argv[1], "forks") == 0)
        return fork_much((unsigned)atoi(argv[2]));
    if (strcmp(argv[1], "rounds") == 0)
        return loop((unsigned)atoi(argv[2]));
    if (strcmp(argv[1], "read") == 0)
        return read_much(atof(argv[2]));
    if (strcmp(argv[1], "load") == 0)
        return load_much((unsigned)atoi(argv[2]));
    if (strcmp(argv[1], "parts") == 0)
        return take_parts(atof(argv[2]));
    if (strcmp(argv[1], "deep") == 0)
        return odd((unsigned)atoi(argv[2]));
    if (strcmp(argv[1], "late") == 0)
        return be_late(atof(argv[2]));
    calls = (unsigned)atoi(argv[2]);
    for (unsigned i = 0; i < KINDS; i++)
        if (pthread_create(&threads[i], NULL, make_calls, &kinds[i]) != 0)
            return 91;
    for (unsigned i = 0; i < KINDS; i++) {
        pthread_join(threads[i], NULL);
        printf("%s %u\n", kinds[i].name, kinds[i].interrupted);
    }
    return 0;
}
