/*
 * Known wakers: wakers_program FOLDER. Threads wait, each at one thing; two others wake them up, by chance, and say before that which of them
 * it is. One waits for bytes of a pipe with a name, FOLDER/fifo, which another program writes; one sleeps. The protocol is that of
 * waits_program.c; the log has a line `WAITING WAKER NS COUNT` for each pair, without the time that a thread then waited for a CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "known_waits.h"

enum { RED, BLUE, OTHER, INTERRUPT, LAST, WAKERS };

static const char *const wakers[WAKERS] = { "red", "blue", "other", "interrupt", "last" };

struct waiting {
    const char *name;
    void (*wait)(void), (*wake)(void);
    _Atomic unsigned by; /* which one wakes it up */
    atomic_flag woken;   /* and no other one may, until it has gone on */
    uint64_t ns[WAKERS];
    unsigned count[WAKERS];
};

static _Atomic int over, begun;
static pthread_barrier_t go_on;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned signalled, taken;
static int pipes[2], sockets[2], event, polled, fifo;
static volatile uint64_t sink;

static void wait_semaphore(void)
{
    sem_wait(&semaphore);
}

static void wake_semaphore(void)
{
    sem_post(&semaphore);
}

static void wait_cond(void)
{
    pthread_mutex_lock(&mutex);
    while (signalled == taken)
        pthread_cond_wait(&cond, &mutex);
    taken = signalled;
    pthread_mutex_unlock(&mutex);
}

static void wake_cond(void)
{
    pthread_mutex_lock(&mutex);
    signalled++;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&cond);
}

static void wait_pipe(void)
{
    char byte;

    sink += (uint64_t)read(pipes[0], &byte, 1);
}

static void wake_pipe(void)
{
    sink += (uint64_t)write(pipes[1], "", 1);
}

static void wait_socket(void)
{
    char byte;

    sink += (uint64_t)recv(sockets[0], &byte, 1, 0);
}

static void wake_socket(void)
{
    sink += (uint64_t)send(sockets[1], "", 1, 0);
}

static void wait_epoll(void)
{
    struct epoll_event got;
    uint64_t count;

    sink += (uint64_t)epoll_wait(polled, &got, 1, -1);
    sink += (uint64_t)read(event, &count, sizeof count);
}

static void wake_epoll(void)
{
    const uint64_t one = 1;

    sink += (uint64_t)write(event, &one, sizeof one);
}

static void wait_fifo(void)
{
    char byte;

    sink += (uint64_t)read(fifo, &byte, 1);
}

static void wait_sleep(void)
{
    pause_ms(40);
}

static struct waiting all[] = {
    { .name = "semaphore", .wait = wait_semaphore, .wake = wake_semaphore, .by = 0 },
    { .name = "cond", .wait = wait_cond, .wake = wake_cond, .by = 0 },
    { .name = "pipe", .wait = wait_pipe, .wake = wake_pipe, .by = 0 },
    { .name = "socket", .wait = wait_socket, .wake = wake_socket, .by = 0 },
    { .name = "epoll", .wait = wait_epoll, .wake = wake_epoll, .by = 0 },
    { .name = "fifo", .wait = wait_fifo, .wake = NULL, .by = OTHER },
    { .name = "sleep", .wait = wait_sleep, .wake = NULL, .by = INTERRUPT },
};

enum { ALL = sizeof all / sizeof *all, WOKEN = 5 };

static void *run_waiting(void *argument)
{
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    struct waiting *w = argument;
    struct place place = { w->name, w->wait, 0, 0, 0 };

    pthread_setname_np(pthread_self(), w->name);
    begun++;
    pthread_barrier_wait(&go_on);
    while (!over) {
        place.ns = place.queued_ns = 0;
        place_wait_once(&place, schedstat);
        w->ns[w->by] += place.ns - place.queued_ns;
        w->count[w->by]++;
        atomic_flag_clear(&w->woken);
    }
    return NULL;
}

__attribute__((noinline)) static void wake_up(struct waiting *w, unsigned by)
{
    if (atomic_flag_test_and_set(&w->woken))
        return;
    w->by = by;
    w->wake();
    sink++;
}

static void *run_waker(void *argument)
{
    const unsigned self = *(const unsigned *)argument;
    uint64_t random = self + 88172645463325252U;

    pthread_setname_np(pthread_self(), wakers[self]);
    begun++;
    pthread_barrier_wait(&go_on);
    while (!over) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        pause_ms(15 + (long)(random % 30));
        wake_up(&all[random / 64 % WOKEN], self);
    }
    return NULL;
}

/* Seldom enough that each wake-up of this thread is recorded. */
static void wait_calmly(const char *folder, const char *name)
{
    FILE *file;

    while (!(file = open_in(folder, name, "r")))
        pause_ms(30);
    fclose(file);
}

int main(int argc, char **argv)
{
    static unsigned selves[2] = { RED, BLUE };
    struct epoll_event wanted = { .events = EPOLLIN };
    pthread_t threads[ALL], waking[2];
    char path[PATH_MAX];
    FILE *file;

    if (argc != 2 || pipe(pipes) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
        sem_init(&semaphore, 0, 0) != 0 || pthread_barrier_init(&go_on, NULL, ALL + 3) != 0)
        return 2;
    event = eventfd(0, 0);
    polled = epoll_create1(0);
    epoll_ctl(polled, EPOLL_CTL_ADD, event, &wanted);
    snprintf(path, sizeof path, "%s/fifo", argv[1]);
    fifo = open(path, O_RDWR);
    if (fifo < 0)
        return 2;
    for (size_t i = 0; i < ALL; i++)
        pthread_create(&threads[i], NULL, run_waiting, &all[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&waking[i], NULL, run_waker, &selves[i]);
    while (begun < ALL + 2)
        pause_ms(10);
    if (!make_file(argv[1], "ready"))
        return 2;
    wait_calmly(argv[1], "go");
    pthread_barrier_wait(&go_on);
    wait_calmly(argv[1], "stop");
    over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(waking[i], NULL);
    for (size_t i = 0; i < WOKEN; i++)
        wake_up(&all[i], LAST);
    all[WOKEN].by = LAST;
    sink += (uint64_t)write(fifo, "", 1);
    for (size_t i = 0; i < ALL; i++)
        pthread_join(threads[i], NULL);
    file = open_in(argv[1], "log", "w");
    if (!file)
        return 2;
    for (size_t i = 0; i < ALL; i++)
        for (unsigned k = 0; k < LAST; k++)
            if (all[i].count[k] > 0)
                fprintf(file, "%s %s %llu %u\n", all[i].name, wakers[k],
                        (unsigned long long)all[i].ns[k], all[i].count[k]);
    return fclose(file) == 0 ? 0 : 2;
}
