#include "profiler/collector/outside/looks_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "remote/thread_stop.h"

enum { COPY = 64 << 10, TEXT = 128 };

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int look_run_open(const struct look_process *p, pid_t tid)
{
    char path[32];

    snprintf(path, sizeof path, "%d/schedstat", (int)tid);
    return openat(p->tasks, path, O_RDONLY | O_CLOEXEC);
}

bool look_run_parse(struct remote_task_run *out, int fd)
{
    char text[TEXT], *at;
    const ssize_t size = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;

    if (size == 0)
        errno = ESRCH;
    if (size <= 0)
        return false;
    text[size] = '\0';
    out->cpu_time = strtoull(text, &at, 10);
    out->waited = strtoull(at, &at, 10);
    out->turns = strtoull(at, &at, 10);
    return true;
}

bool look_run_read(struct remote_task_run *out, const struct look_process *p,
                   const struct look_thread *t)
{
    const int run = t->run >= 0 ? t->run : look_run_open(p, t->tid);
    const bool good = look_run_parse(out, run);
    const int error = errno;

    if (run >= 0 && t->run < 0)
        close(run);
    errno = error;
    return good;
}

struct sfb_copied_stack look_copied(struct looks *l, size_t most)
{
    struct sfb_copied_stack stack = { .registers = l->look.registers,
                                      .address = l->look.stack[0].at,
                                      .bytes = l->look.stack[0].bytes,
                                      .size = l->look.stack[0].size,
                                      .frame_sp = l->python.sp,
                                      .frame_sp_room = OUTSIDE_PYTHON_FRAMES };

    stack.whole = stack.size < most;
    return stack;
}

const struct outside_python *look_python(const struct looks *l)
{
    return l->look.python.count > 0 || l->look.python.gil_at != 0 ? &l->python : NULL;
}

bool look_running(struct looks *l, struct look_process *p, struct look_thread *t, bool on_cpu,
                  struct outside_place *place)
{
    const struct remote_wanted wanted = { .most = COPY };
    struct sfb_copied_stack stack;
    struct remote_task_run run;
    const char *cause;
    uint64_t weight;
    bool changed;

    *place = (struct outside_place){ .stack = 0 };
    remote_python_retry(&p->python);
    if (remote_look_stopped(&l->look, &p->memory, p->tasks, t->tid, &wanted, false, &cause) !=
        REMOTE_LOOK_DONE)
        return true;
    l->stops++;
    if (!look_run_read(&run, p, t))
        return true;
    t->cpu = run.cpu_time;
    weight = t->cpu > t->sampled ? t->cpu - t->sampled : 0;
    if (weight == 0)
        return true;
    stack = look_copied(l, COPY);
    t->ran_at = now_ns();
    if (on_cpu) {
        t->sampled = t->cpu;
        t->runs = true;
    }
    if (!(on_cpu ? outside_take_stack(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, t->ran_at,
                                      weight, &stack, look_python(l), place)
                 : outside_find_place(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, t->ran_at,
                                      &stack, look_python(l), place)))
        return false;
    t->ran_stack = place->stack;
    /* For the next one: this sample is written. */
    return place->end != SFB_NO_MODULE || look_maps_anew(l, p, &changed);
}

struct look_process *look_process_of(const struct looks *l, pid_t pid)
{
    for (size_t i = 0; i < l->processes.count; i++)
        if (l->processes.at[i]->pid == pid)
            return l->processes.at[i];
    return NULL;
}

struct look_thread *look_thread_of(struct look_process *p, pid_t tid)
{
    for (size_t i = 0; i < p->threads.count; i++)
        if (p->threads.at[i].tid == tid)
            return &p->threads.at[i];
    return NULL;
}
