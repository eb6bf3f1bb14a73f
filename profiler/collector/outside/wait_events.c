#include "profiler/collector/outside/wait_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SWITCHES_HZ = 500, /* with records as large as samples: rings of 512 KiB */
    STACKS_HZ = 8000,
    RINGS_MOST = 64 << 20, /* bytes of all rings */
    RANGES = 16,           /* of numbers of threads, that a filter has */
    RANGE_TEXT = 48,       /* bytes of one */
};

/* The first PID namespace: a tracepoint's field has its numbers. Its inode is fixed: PROC_PID_INIT_INO of the kernel. */
static bool numbers_are_ours(void)
{
    struct stat own;

    return stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == 0xEFFFFFFCU;
}

/*
 * A wake-up is an event of the thread that wakes, which may be any one, or none: an interrupt. So these are events of each CPU, and a
 * filter on the thread that is woken. (The kernel also hands it to the woken thread's own events: perf_tp_event(). But Linux 6.18
 * counts it there, and writes no record.) All samples have one layout, so that they share the rings.
 */
static struct perf_event_attr wake_attr(const struct wait_events *e)
{
    struct perf_event_attr attr = e->rings.attr;

    attr.type = PERF_TYPE_TRACEPOINT;
    attr.sample_period = 1;
    attr.config = e->waking.number;
    attr.context_switch = attr.inherit = attr.inherit_thread = 0;
    return attr;
}

static void close_wakes(struct wait_events *e)
{
    for (size_t i = 0; e->wakes && i < e->rings.rings.count; i++)
        if (e->wakes[i].fd >= 0)
            close(e->wakes[i].fd);
    free(e->wakes);
    e->wakes = NULL;
}

/* They do not count before they have a filter. */
static void open_wakes(struct wait_events *e)
{
    struct perf_event_attr attr = wake_attr(e);
    bool good = true;

    e->wakes = calloc(e->rings.rings.count, sizeof *e->wakes);
    for (size_t i = 0; e->wakes && i < e->rings.rings.count; i++) {
        e->wakes[i].fd = good ? perf_rings_open_one(&e->rings, &attr, -1, i) : -1;
        good = e->wakes[i].fd >= 0;
    }
    if (!good)
        close_wakes(e);
}

/* Without tracefs, context switches are sampled by their counter, which does not say how a thread waits. */
static void find_tracepoints(struct wait_events *e)
{
    const int tracefs = tracefs_open();

    if (tracefs < 0)
        return;
    tracepoint_find(&e->stop, tracefs, "sched/sched_switch", "prev_state");
    if (numbers_are_ours())
        tracepoint_find(&e->waking, tracefs, "sched/sched_waking", "pid");
    close(tracefs);
}

static uint64_t cpus(void)
{
    const long count = sysconf(_SC_NPROCESSORS_CONF);

    return count > 0 ? (uint64_t)count : 1;
}

static bool open_rings(struct wait_events *out, bool no_children, bool stacks)
{
    const struct perf_rings_options how = { .rate_hz = stacks ? STACKS_HZ : SWITCHES_HZ,
                                            .no_children = no_children,
                                            .switches = true,
                                            .stacks = stacks,
                                            .most = RINGS_MOST / cpus() };

    if (perf_rings_open(&out->rings, &how) == NULL && (!stacks || !out->rings.attr.exclude_kernel))
        return true;
    perf_rings_close(&out->rings);
    return false;
}

bool wait_events_open(struct wait_events *out, bool no_children)
{
    *out = (struct wait_events){ .rung = WAIT_STACKS };
    /* It takes a moment to read, which is before the recording begins. */
    out->kernel = wait_kernel_open();
    if (out->kernel && open_rings(out, no_children, true)) {
        find_tracepoints(out);
        if (out->waking.number != 0)
            open_wakes(out);
        if (!out->wakes)
            out->waking.number = 0;
        return true;
    }
    wait_kernel_close(out->kernel);
    *out = (struct wait_events){ .rung = WAIT_SWITCHES };
    if (open_rings(out, no_children, false))
        return true;
    *out = (struct wait_events){ .rung = WAIT_LOOKS };
    return false;
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
}

/* Opens switch records of a thread, one event for each ring. @param fds  written. @return false: errno says why */
static bool open_switches(const struct wait_events *e, pid_t tid, bool inherits, int *fds)
{
    struct perf_event_attr attr = e->rings.attr;

    attr.inherit = inherits;
    attr.inherit_thread &= attr.inherit;
    return perf_rings_open_on(&e->rings, &attr, tid, fds);
}

/* Samples, of a thread alone. */
static bool open_stacks(struct wait_events *e, pid_t tid, int *fds)
{
    struct perf_event_attr attr = e->rings.attr;

    attr.sample_period = 1;
    attr.context_switch = attr.inherit = attr.inherit_thread = 0;
    if (e->stop.number != 0) {
        attr.type = PERF_TYPE_TRACEPOINT;
        attr.config = e->stop.number;
        if (perf_rings_open_on(&e->rings, &attr, tid, fds))
            return true;
        if (errno != EACCES && errno != EPERM)
            return false;
        e->stop.number = 0;
    }
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    return perf_rings_open_on(&e->rings, &attr, tid, fds);
}

bool wait_events_watch(struct wait_events *e, pid_t tid)
{
    const size_t rings = e->rings.rings.count, before = e->inherited.count;
    int error;

    errno = EMFILE;
    for (size_t i = 0; before + rings <= e->rings.limit && i < rings; i++)
        if (!REPORT_NEXT(e->inherited)) {
            e->inherited.count = before;
            return false;
        }
    if (e->inherited.count > before && open_switches(e, tid, true, e->inherited.at + before))
        return true;
    error = errno;
    e->inherited.count = before;
    e->refused += error != ESRCH;
    errno = error;
    return false;
}

void wait_events_enable(struct wait_events *e)
{
    for (; e->enabled < e->inherited.count; e->enabled++)
        ioctl(e->inherited.at[e->enabled], PERF_EVENT_IOC_ENABLE, 0);
}

void wait_events_disinherit(struct wait_events *e)
{
    close_all(e->inherited.at, e->inherited.count);
    e->inherited.count = e->enabled = 0;
}

static void free_fds(struct wait_events *e, int **fds)
{
    if (!*fds)
        return;
    close_all(*fds, e->rings.rings.count);
    e->rings.limit += e->rings.rings.count;
    free(*fds);
    *fds = NULL;
}

void wait_events_free(struct wait_events *e, struct wait_thread_events *t)
{
    if (e) {
        free_fds(e, &t->switches);
        free_fds(e, &t->stacks);
    }
    t->rung = WAIT_LOOKS;
}

/* Opens events of one kind that a thread lacks. @return whether it has them */
static bool fill(struct wait_events *e, int **fds, pid_t tid, bool stacks)
{
    const size_t rings = e->rings.rings.count;
    int *more;

    if (*fds)
        return true;
    errno = EMFILE;
    more = e->rings.limit >= rings ? calloc(rings, sizeof *more) : NULL;
    if (!more || !(stacks ? open_stacks(e, tid, more) : open_switches(e, tid, false, more))) {
        free(more);
        return false;
    }
    for (size_t i = 0; i < rings; i++)
        ioctl(more[i], PERF_EVENT_IOC_ENABLE, 0);
    e->rings.limit -= rings;
    *fds = more;
    return true;
}

bool wait_events_set(struct wait_events *e, struct wait_thread_events *t, pid_t tid,
                     enum wait_rung rung)
{
    bool switches = rung >= WAIT_SWITCHES;

    /* Inherited events end after all threads have their own, so that no switch is lost. */
    if (switches && e->own)
        switches = fill(e, &t->switches, tid, false);
    else
        free_fds(e, &t->switches);
    if (rung < WAIT_STACKS || !switches)
        free_fds(e, &t->stacks);
    t->rung = !switches                                               ? WAIT_LOOKS
              : rung == WAIT_STACKS && fill(e, &t->stacks, tid, true) ? WAIT_STACKS
                                                                      : WAIT_SWITCHES;
    return t->rung == rung;
}

/* --- Wake-ups -------------------------------------------------------------------------------------------- */

struct range {
    pid_t first, last;
};

static int by_number(const void *a, const void *b)
{
    const pid_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Joins the two ranges that are nearest to each other. */
static size_t join(struct range *ranges, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i + 1 < count; i++)
        if (ranges[i + 1].first - ranges[i].last < ranges[best + 1].first - ranges[best].last)
            best = i;
    ranges[best].last = ranges[best + 1].last;
    memmove(ranges + best + 1, ranges + best + 2, (count - best - 2) * sizeof *ranges);
    return count - 1;
}

/* Few ranges that all numbers are in, and perhaps others. @param tids  ascending */
static size_t ranges_of(struct range *out, const pid_t *tids, size_t tid_count)
{
    size_t count = 0;

    for (size_t i = 0; i < tid_count; i++) {
        if (count > 0 && tids[i] <= out[count - 1].last + 1) {
            out[count - 1].last = tids[i];
            continue;
        }
        out[count++] = (struct range){ tids[i], tids[i] };
        if (count > RANGES)
            count = join(out, count);
    }
    return count;
}

static void set_enabled(const int *fds, size_t count, bool enabled)
{
    for (size_t i = 0; i < count; i++)
        ioctl(fds[i], enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void set_wakes_enabled(const struct wait_events *e, bool enabled)
{
    for (size_t i = 0; i < e->rings.rings.count; i++)
        if (e->wakes[i].has_filter)
            set_enabled(&e->wakes[i].fd, 1, enabled);
}

/*
 * The kernel changes no filter: another event takes the place of each one. One after the other: one free descriptor is enough.
 *
 * @return false: no descriptor is free. Events that are left go on with their filter, also after a pause
 */
static bool set_filter(struct wait_events *e, const char *text)
{
    struct perf_event_attr attr = wake_attr(e);
    bool good = true;

    for (size_t i = 0; i < e->rings.rings.count; i++) {
        const int other = perf_rings_open_one(&e->rings, &attr, -1, i);

        if (other >= 0 && ioctl(other, PERF_EVENT_IOC_SET_FILTER, text) == 0) {
            set_enabled(&other, 1, true); /* without a gap */
            close(e->wakes[i].fd);
            e->wakes[i] = (struct wait_wake){ .fd = other, .has_filter = true };
            continue;
        }
        good &= other < 0 && errno == ENODEV; /* a CPU that is off wakes no thread up */
        if (other >= 0)
            close(other);
        if (e->wakes[i].has_filter)
            set_enabled(&e->wakes[i].fd, 1, true);
    }
    return good;
}

bool wait_events_wake(struct wait_events *e, pid_t *tids, size_t count)
{
    struct range ranges[RANGES + 1];
    char text[RANGES * RANGE_TEXT] = "";
    size_t size = 0;

    if (!e->wakes)
        return true;
    if (count == 0) {
        set_wakes_enabled(e, false);
        return true;
    }
    if (count > 1)
        qsort(tids, count, sizeof *tids, by_number);
    count = ranges_of(ranges, tids, count);
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s(pid>=%d&&pid<=%d)",
                                 i > 0 ? "||" : "", (int)ranges[i].first, (int)ranges[i].last);
    return set_filter(e, text);
}

void wait_events_pause(struct wait_events *e, bool paused)
{
    set_enabled(e->inherited.at, e->enabled, !paused);
    if (paused)
        wait_events_wake(e, NULL, 0);
}

void wait_events_close(struct wait_events *e)
{
    close_all(e->inherited.at, e->inherited.count);
    close_wakes(e);
    free(e->inherited.at);
    wait_kernel_close(e->kernel);
    perf_rings_close(&e->rings);
    *e = (struct wait_events){ .rung = WAIT_LOOKS };
}
