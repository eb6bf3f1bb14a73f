/*
 * Known waits: waits_program FOLDER. Each thread waits at one place, again and again, and logs for how long, without the time
 * that it then waited for a CPU, which its schedstat says. It makes a file
 * `ready` when all threads are there, waits for a file `go`, and runs until there is a file `stop`. Then it writes FOLDER/log: a line for each
 * thread with its name, ns and number of its waits. One of them stops a process of its own and lets it go on (SIGSTOP, SIGCONT); its line is
 * `stopped`, for how long that one stood. Two threads wake each other up by epoll_wait(), 10,000 times and more; the
 * last line is `calls`, with how many there were and how many ended with EINTR.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "known_waits.h"

enum { TURN_MS = 50 };

static char stop_path[PATH_MAX];
static _Atomic int over, all_over, begun; /* the holder goes on until the others have ended */
static _Atomic unsigned calls, interrupted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned signalled;
static sem_t semaphore;
static pthread_barrier_t go_on;
static int pipes[2], polled[2], selected[2], of_two[2], sockets[2], pings[2], epolls[2];
static volatile uint64_t sink;

__attribute__((noinline)) static void place_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    sink++;
}

__attribute__((noinline)) static void place_cond(void)
{
    const unsigned before = signalled;

    pthread_mutex_lock(&cond_mutex);
    while (signalled == before)
        pthread_cond_wait(&cond, &cond_mutex);
    pthread_mutex_unlock(&cond_mutex);
    sink++;
}

__attribute__((noinline)) static void place_semaphore(void)
{
    sem_wait(&semaphore);
    sink++;
}

__attribute__((noinline)) static void place_pipe(void)
{
    char byte;

    sink += (uint64_t)read(pipes[0], &byte, 1);
}

__attribute__((noinline)) static void place_socket(void)
{
    char byte;

    sink += (uint64_t)recv(sockets[0], &byte, 1, 0);
}

__attribute__((noinline)) static void place_poll(void)
{
    struct pollfd event = { .fd = polled[0], .events = POLLIN };
    char byte;

    poll(&event, 1, -1);
    sink += (uint64_t)read(polled[0], &byte, 1);
}

/* A descriptor in two of the sets is one. */
__attribute__((noinline)) static void place_select(void)
{
    fd_set set, same;
    char byte;

    FD_ZERO(&set);
    FD_SET(selected[0], &set);
    same = set;
    select(selected[0] + 1, &set, NULL, &same, NULL);
    sink += (uint64_t)read(selected[0], &byte, 1);
}

/* Two descriptors, and a bit behind the last one. By the kernel's first call of that name, where there is one. */
__attribute__((noinline)) static void place_selects(void)
{
    const int last = of_two[0] > polled[1] ? of_two[0] : polled[1];
    fd_set in, except;
    char byte;

    FD_ZERO(&in);
    FD_ZERO(&except);
    FD_SET(of_two[0], &in);
    FD_SET(polled[1], &except);
    FD_SET(last + 1, &in);
#ifdef SYS_select
    syscall(SYS_select, last + 1, &in, NULL, &except, NULL);
#else
    select(last + 1, &in, NULL, &except, NULL);
#endif
    sink += (uint64_t)read(of_two[0], &byte, 1);
}

__attribute__((noinline)) static void place_sleep(void)
{
    pause_ms(TURN_MS - 10);
    sink++;
}

/* Sets the others free, 20 times a second. It holds the mutex meanwhile. */
__attribute__((noinline)) static void place_holder(void)
{
    pthread_mutex_lock(&mutex);
    pause_ms(TURN_MS);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&cond_mutex);
    signalled++;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&cond_mutex);
    sem_post(&semaphore);
    sink +=
        (uint64_t)(write(pipes[1], "", 1) + write(polled[1], "", 1) + send(sockets[1], "", 1, 0));
    sink += (uint64_t)(write(selected[1], "", 1) + write(of_two[1], "", 1));
}

/*
 * A process that sleeps, and is stopped 50 ms each time. Its time is that of the stops: from when its parent hears of one, less what
 * the parent then waited for a CPU.
 */
static pid_t stopped_pid;
static uint64_t stopped_ns;

static void begin_stopped(void)
{
    stopped_pid = fork();
    if (stopped_pid == 0) {
        pthread_setname_np(pthread_self(), "stopped");
        for (;;)
            pause();
    }
}

__attribute__((noinline)) static void place_stops(void)
{
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    uint64_t since, queued, queued_before;
    int status;

    now_with_queued(schedstat, &queued_before);
    kill(stopped_pid, SIGSTOP);
    waitpid(stopped_pid, &status, WUNTRACED);
    since = now_with_queued(schedstat, &queued) - (queued - queued_before);
    pause_ms(TURN_MS);
    kill(stopped_pid, SIGCONT);
    stopped_ns += now_ns() - since;
    waitpid(stopped_pid, &status, WCONTINUED);
    close(schedstat);
    pause_ms(TURN_MS);
}

static void *run_place(void *argument)
{
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    struct place *place = argument;

    pthread_setname_np(pthread_self(), place->name);
    begun++;
    pthread_barrier_wait(&go_on);
    while (place->wait == place_holder ? !all_over : !over) {
        place_wait_once(place, schedstat);
        if (place->wait == place_holder)
            pause_ms(1); /* a short wait, so that another thread gets the mutex */
        for (unsigned i = 0; i < 200000; i++)
            sink = sink * 25214903917 + 11;
    }
    return NULL;
}

static void *run_ping(void *argument)
{
    const int own = *(int *)argument;
    struct epoll_event event = { .events = EPOLLIN };
    uint64_t one = 1;

    pthread_setname_np(pthread_self(), "ping");
    epoll_ctl(epolls[own], EPOLL_CTL_ADD, pings[own], &event);
    begun++;
    while (!over) {
        const int got = epoll_wait(epolls[own], &event, 1, 100);

        calls++;
        interrupted += got < 0 && errno == EINTR;
        if (got > 0)
            sink += (uint64_t)(read(pings[own], &one, sizeof one) +
                               write(pings[!own], &one, sizeof one));
        if (calls % 4 == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct place places[] = {
        { "holder", place_holder, 0, 0, 0 }, { "mutex", place_mutex, 0, 0, 0 },
        { "cond", place_cond, 0, 0, 0 },     { "semaphore", place_semaphore, 0, 0, 0 },
        { "pipe", place_pipe, 0, 0, 0 },     { "socket", place_socket, 0, 0, 0 },
        { "poll", place_poll, 0, 0, 0 },     { "sleep", place_sleep, 0, 0, 0 },
        { "select", place_select, 0, 0, 0 }, { "selects", place_selects, 0, 0, 0 },
        { "stops", place_stops, 0, 0, 0 },
    };
    enum { PLACES = sizeof places / sizeof *places };
    pthread_t threads[PLACES], pinging[2];
    static int numbers[2] = { 0, 1 };
    uint64_t one = 1;
    FILE *file;

    if (argc != 2 || pipe(pipes) != 0 || pipe(polled) != 0 || pipe(selected) != 0 ||
        pipe(of_two) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
        sem_init(&semaphore, 0, 0) != 0 || pthread_barrier_init(&go_on, NULL, PLACES + 1) != 0)
        return 2;
    snprintf(stop_path, sizeof stop_path, "%s/stop", argv[1]);
    begin_stopped();
    for (int i = 0; i < 2; i++) {
        pings[i] = eventfd(0, 0);
        epolls[i] = epoll_create1(0);
    }
    for (int i = 0; i < PLACES; i++)
        pthread_create(&threads[i], NULL, run_place, &places[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&pinging[i], NULL, run_ping, &numbers[i]);
    while (begun < PLACES + 2)
        pause_ms(1);
    sink += (uint64_t)write(pings[0], &one, sizeof one);
    if (!make_file(argv[1], "ready"))
        return 2;
    wait_for_file(argv[1], "go");
    pthread_barrier_wait(&go_on);
    while (access(stop_path, F_OK) != 0 || calls < 10000)
        pause_ms(10);
    over = 1;
    for (int i = 1; i < PLACES; i++)
        pthread_join(threads[i], NULL);
    all_over = 1;
    pthread_join(threads[0], NULL);
    kill(stopped_pid, SIGKILL);
    waitpid(stopped_pid, NULL, 0);
    file = open_in(argv[1], "log", "w");
    if (!file)
        return 2;
    for (int i = 0; i + 1 < PLACES; i++) /* not the one that stops another process */
        log_place(file, &places[i]);
    fprintf(file, "stopped %llu %u\n", (unsigned long long)stopped_ns, places[PLACES - 1].count);
    fprintf(file, "calls %u %u\n", calls, interrupted);
    return fclose(file) == 0 ? 0 : 2;
}
