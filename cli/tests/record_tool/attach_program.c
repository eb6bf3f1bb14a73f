/*
 * Known work for a recorder that comes while it runs: attach_program FOLDER. Two functions share its CPU time, three to
 * one, and their own clock says what they had. Between them it waits in a call that a signal or a stop would end with
 * EINTR. When FOLDER has a file `go`, it makes a thread and a child, which do work of other names. When both have ended, and
 * the functions have had 0.8 s more, it makes a file `later`. SIGTERM ends it: it writes to FOLDER/sums what the functions had, in ns, and how often the call was interrupted.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t over;
static volatile uint64_t sink;
static unsigned interrupted;

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t turn(unsigned times)
{
    const uint64_t before = cpu_ns();

    for (unsigned i = 0; i < times; i++)
        for (unsigned k = 0; k < 100000; k++)
            sink = sink * 25214903917 + 11;
    return cpu_ns() - before;
}

__attribute__((noinline)) static uint64_t three_parts(void)
{
    return turn(30);
}

__attribute__((noinline)) static uint64_t one_part(void)
{
    return turn(10);
}

/* Longer than a second, in which looks find children. */
__attribute__((noinline)) static void later_thread(void)
{
    while (cpu_ns() < 1500000000)
        turn(30);
}

__attribute__((noinline)) static void later_child(void)
{
    const uint64_t begin = cpu_ns();

    while (cpu_ns() - begin < 1500000000)
        turn(29);
}

static void *run_thread(void *none)
{
    (void)none;
    later_thread();
    return NULL;
}

static void make_others(void)
{
    pthread_t thread;
    pid_t child;

    pthread_create(&thread, NULL, run_thread, NULL);
    child = fork();
    if (child == 0) {
        later_child();
        _exit(0);
    }
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
}

static void make_file(const char *folder, const char *what)
{
    char name[PATH_MAX];

    snprintf(name, sizeof name, "%s/%s", folder, what);
    fclose(fopen(name, "w"));
}

static void end(int number)
{
    (void)number;
    over = 1;
}

int main(int argc, char **argv)
{
    char go[PATH_MAX], sums[PATH_MAX]; /* more than a copy of 8 KiB holds */
    int waits;
    uint64_t three = 0, one = 0, enough = 0;
    struct epoll_event event;
    FILE *out;

    if (argc != 2)
        return 2;
    waits = epoll_create1(0);
    snprintf(go, sizeof go, "%s/go", argv[1]);
    snprintf(sums, sizeof sums, "%s/sums", argv[1]);
    signal(SIGTERM, end);
    while (!over) {
        three += three_parts();
        one += one_part();
        if (epoll_wait(waits, &event, 1, 1) < 0 && errno == EINTR && !over)
            interrupted++;
        if (access(go, F_OK) == 0 && unlink(go) == 0) {
            make_others();
            enough = three + one + 800000000;
        }
        if (enough > 0 && three + one >= enough) {
            make_file(argv[1], "later");
            enough = 0;
        }
    }
    out = fopen(sums, "w");
    if (!out)
        return 1;
    fprintf(out, "%llu %llu %u\n", (unsigned long long)three, (unsigned long long)one, interrupted);
    return fclose(out) == 0 ? 0 : 1;
}
