#include "cli/report/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/foreign.h"

/* The first line comes after a second, the next ones while it goes on. */
enum { FIRST_NS = 1000000000, NEXT_NS = 200000000 };

static struct progress {
    pthread_mutex_t lock;
    pthread_cond_t ended_now;
    pthread_t thread;
    bool running, ended, drawn;
    const char *what, *name;
    size_t at, of;
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool can_draw(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* The line is written anew, over the one before. */
static void draw(struct progress *p)
{
    char name[128];
    const size_t size = strlen(p->name);

    foreign_escape(name, sizeof name, p->name, size < 40 ? size : 40, FOREIGN_ESCAPED);
    fprintf(stderr, "\r\033[Ksfb: %s%s%s", p->what, name[0] ? " " : "", name);
    if (p->of > 1)
        fprintf(stderr, " (%zu of %zu)", p->at, p->of);
    fputc('\r', stderr); /* a complaint begins at its beginning */
    fflush(stderr);
    p->drawn = true;
}

static void add(struct timespec *time, long ns)
{
    time->tv_sec += (time->tv_nsec + ns) / 1000000000;
    time->tv_nsec = (time->tv_nsec + ns) % 1000000000;
}

static void *watch(void *user)
{
    struct progress *p = user;
    struct timespec next;

    clock_gettime(CLOCK_MONOTONIC, &next);
    add(&next, FIRST_NS);
    pthread_mutex_lock(&p->lock);
    while (!p->ended)
        if (pthread_cond_timedwait(&p->ended_now, &p->lock, &next) != 0 && !p->ended) {
            draw(p);
            add(&next, NEXT_NS);
        }
    if (p->drawn)
        fputs("\r\033[K", stderr);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void report_progress_begin(void)
{
    struct progress *p = &progress;
    pthread_condattr_t monotonic;
    sigset_t all, old;

    if (!can_draw())
        return;
    p->what = "reading";
    p->name = "";
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->ended_now, &monotonic);
    pthread_condattr_destroy(&monotonic);
    /* Signals are the report's own thread's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    p->running = pthread_create(&p->thread, NULL, watch, p) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void report_progress_note(const char *what, const char *name, size_t at, size_t of)
{
    struct progress *p = &progress;

    if (!p->running)
        return;
    pthread_mutex_lock(&p->lock);
    p->what = what;
    p->name = name;
    p->at = at;
    p->of = of;
    pthread_mutex_unlock(&p->lock);
}

void report_progress_end(void)
{
    struct progress *p = &progress;

    if (!p->running)
        return;
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    pthread_cond_signal(&p->ended_now);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    p->running = false;
}
