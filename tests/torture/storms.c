#include "storms.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/limit.h"

enum { SELF_CHECK_SECONDS = 3, TIMER_NS = 1000000 };

struct storm {
    unsigned seconds;
    unsigned stuck;
    enum storm_inject inject;
    time_t begin;
    atomic_ullong progress;
};

static time_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

bool storm_over(const struct storm *s)
{
    return now() - s->begin >= (time_t)s->seconds;
}

enum storm_inject storm_injected(const struct storm *s)
{
    return s->inject;
}

unsigned storm_seconds(const struct storm *s)
{
    return s->seconds;
}

void storm_progress(struct storm *s)
{
    while (s->inject == STORM_HANG)
        pause();
    if (s->inject == STORM_CRASH)
        raise(SIGSEGV);
    atomic_fetch_add_explicit(&s->progress, 1, memory_order_relaxed);
}

static _Thread_local timer_t timer;

void storm_timer(struct storm *s)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN };
    struct itimerspec interval = { { 0, TIMER_NS }, { 0, TIMER_NS } };

    (void)s;
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &interval, NULL) != 0) {
        perror("timer");
        exit(2);
    }
}

void storm_timer_stop(void)
{
    timer_delete(timer);
}

static int watch(const struct storm *s, const char *name, pid_t child)
{
    unsigned long long seen = 0;
    time_t since = now();
    int status;

    while (waitpid(child, &status, WNOHANG) == 0) {
        struct timespec pause = { 0, 20000000 };
        unsigned long long progress = atomic_load(&s->progress);

        nanosleep(&pause, NULL); /* between two looks */
        if (progress != seen)
            since = now();
        seen = progress;
        if (now() - since > (time_t)s->stuck ||
            now() - s->begin > (time_t)s->seconds + HANG_SECONDS) {
            kill(child, SIGABRT); /* for a core, where somebody wants one */
            waitpid(child, &status, 0);
            printf("%s: stands still after %ld s\n", name, (long)(now() - s->begin));
            return 1;
        }
    }
    if (WIFSIGNALED(status)) {
        printf("%s: %s\n", name, strsignal(WTERMSIG(status)));
        return 1;
    }
    return WEXITSTATUS(status);
}

int storm_main(const char *name, storm_fn *run, int argc, char **argv)
{
    struct storm *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    if (s == MAP_FAILED)
        return 2;
    *s = (struct storm){ .seconds = 5, .stuck = HANG_SECONDS };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--inject") == 0 && i + 1 < argc) {
            i++;
            s->inject = strcmp(argv[i], "hang") == 0    ? STORM_HANG
                        : strcmp(argv[i], "crash") == 0 ? STORM_CRASH
                                                        : STORM_END;
            if (s->inject == STORM_HANG)
                s->stuck = SELF_CHECK_SECONDS;
        } else if (atoi(argv[i]) > 0) {
            s->seconds = (unsigned)atoi(argv[i]);
        } else {
            fprintf(stderr, "usage: %s [--inject hang|crash|end] [SECONDS]\n", name);
            return 2;
        }
    }
    s->begin = now();
    fflush(stdout);
    child = fork();
    if (child == 0)
        exit(run(s));
    return child < 0 ? 2 : watch(s, name, child);
}
