#include "profiler/collector/outside/alongside_events.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profiler/collector/processes/tasks.h"
#include "util/grow.h"

enum { TASKS_MOST = 32768, FDS_MOST = 1 << 20 };

/* The task's events say what is mapped and executed. These say nothing but their samples. */
static struct perf_event_attr sampling(const struct perf_rings *r)
{
    struct perf_event_attr attr = r->attr;

    attr.mmap = attr.mmap2 = attr.build_id = 0;
    attr.comm = attr.comm_exec = attr.task = 0;
    return attr;
}

/* Events of this thread count nothing: it executes no program. */
static bool open_common(struct alongside_events *e)
{
    struct perf_event_attr tasks = e->rings.attr, common = sampling(&e->rings);

    tasks.config = PERF_COUNT_SW_DUMMY;
    tasks.sample_period = 0;
    tasks.disabled = 0;
    common.enable_on_exec = 1;
    common.inherit_stat = 1; /* a record of its count where a thread ends */
    if (!perf_rings_open_on(&e->rings, &tasks, 0, e->tasks))
        return false;
    if (perf_rings_open_on(&e->rings, &common, 0, e->common)) {
        for (size_t i = 0; i < e->rings.rings.count; i++)
            if (ioctl(e->common[i], PERF_EVENT_IOC_ID, &e->common_ids[i]) != 0)
                e->common_ids[i] = 0;
        return true;
    }
    e->common[0] = -1;
    return false;
}

const char *alongside_events_open(struct alongside_events *out, uint32_t rate_hz)
{
    /* Few processes have no agent: a tenth of a second of one CPU's samples. */
    const struct perf_rings_options how = {
        .rate_hz = rate_hz, .most = (uint64_t)rate_hz * (PERF_STACK_LEAST + 1024) / 10
    };
    const char *what = perf_rings_open(&out->rings, &how);
    const size_t count = out->rings.rings.count;

    if (what)
        return what;
    out->tasks = calloc(count, sizeof *out->tasks);
    out->common = calloc(count, sizeof *out->common);
    out->common_ids = calloc(count, sizeof *out->common_ids);
    if (!out->tasks || !out->common || !out->common_ids)
        return "memory";
    out->tasks[0] = out->common[0] = -1;
    out->own = sampling(&out->rings);
    out->own.inherit_thread = 1;
    out->own.disabled = 1; /* until the events of all threads are open */
    out->telling = out->rings.attr;
    out->telling.inherit_thread = out->telling.disabled = 1;
    return open_common(out) ? NULL : "perf_event_open";
}

void alongside_events_turn_off(const struct alongside_events *e)
{
    for (size_t i = 0; i < e->rings.rings.count; i++)
        ioctl(e->common[i], PERF_EVENT_IOC_DISABLE, 0);
}

bool alongside_events_is_common(const struct alongside_events *e, uint64_t id)
{
    for (size_t i = 0; i < e->rings.rings.count; i++)
        if (e->common_ids[i] == id)
            return true;
    return false;
}

/* A thread may end meanwhile. */
static bool open_thread(const struct alongside_events *e, struct alongside_own *out,
                        struct perf_event_attr *attr, pid_t tid)
{
    const size_t each = e->rings.rings.count;
    int *fds;

    while (out->count + each > out->room) {
        fds = array_grow(out->fds, out->room, &out->room, sizeof *fds, FDS_MOST);
        if (!fds)
            return false;
        out->fds = fds;
    }
    if (!perf_rings_open_on(&e->rings, attr, tid, out->fds + out->count))
        return errno == ESRCH;
    out->count += each;
    return true;
}

bool alongside_own_open(const struct alongside_events *e, struct alongside_own *out, pid_t pid,
                        uint32_t stack, bool tells)
{
    pid_t *tids = calloc(TASKS_MOST, sizeof *tids);
    const size_t count = tids ? sfb_recorder_tasks_of(pid, tids, TASKS_MOST) : 0;
    struct perf_event_attr attr = tells ? e->telling : e->own;
    int error = ESRCH;

    *out = (struct alongside_own){ .stack = stack };
    attr.sample_stack_user = stack;
    for (size_t i = 0; i < count; i++)
        if (!open_thread(e, out, &attr, tids[i]))
            error = errno;
    free(tids);
    /* At one moment: opening takes long, and what is on meanwhile counts beside the events before. */
    for (size_t i = 0; i < out->count; i++)
        ioctl(out->fds[i], PERF_EVENT_IOC_ENABLE, 0);
    if (out->count > 0)
        return true;
    alongside_own_close(out);
    errno = error;
    return false;
}

bool alongside_own_has_ended(const struct alongside_own *own)
{
    for (size_t i = 0; i < own->count; i++) {
        struct pollfd event = { .fd = own->fds[i] };

        if (poll(&event, 1, 0) != 1 || !(event.revents & POLLHUP))
            return false;
    }
    return own->count > 0;
}

uint64_t alongside_own_count(const struct alongside_own *own)
{
    uint64_t sum = 0, count;

    for (size_t i = 0; i < own->count; i++)
        if (read(own->fds[i], &count, sizeof count) == (ssize_t)sizeof count)
            sum += count;
    return sum;
}

void alongside_own_close(struct alongside_own *own)
{
    for (size_t i = 0; i < own->count; i++)
        close(own->fds[i]);
    free(own->fds);
    *own = (struct alongside_own){ .fds = NULL };
}

static void close_all(int *fds, size_t count)
{
    for (size_t i = 0; fds && fds[0] >= 0 && i < count; i++)
        close(fds[i]);
    free(fds);
}

void alongside_events_close(struct alongside_events *e)
{
    close_all(e->tasks, e->rings.rings.count);
    close_all(e->common, e->rings.rings.count);
    free(e->common_ids);
    perf_rings_close(&e->rings);
}
