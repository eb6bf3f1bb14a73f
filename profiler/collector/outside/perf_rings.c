#include "profiler/collector/outside/perf_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/perf_registers.h"
#include "util/grow.h"

enum {
    RING_LEAST = 64 << 10,
    RING_MOST = 16 << 20,
    KEPT_MOST =
        256
        << 20, /* bytes that were taken from the rings: then the rings fill up, and the kernel counts */
    DRAINS = 20,     /* a second, at least: a ring has room for what comes between two of them */
    EMPTY_EVERY = 8, /* records */
    RECORD_HEADER = 8
};

static const uint64_t second_ns = 1000000000;

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* --- What the kernel allows ---------------------------------------------------------------------------- */

static void set_attr(struct perf_rings *r, const struct perf_rings_options *how)
{
    r->attr = (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof r->attr,
        .config = how->all ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = second_ns / how->rate_hz,
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ |
                       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .disabled = 1,
        .inherit = !how->all,
        .inherit_thread = !how->all && how->no_children,
        .exclude_kernel = how->user_only,
        .exclude_hv = 1,
        .exclude_idle = how->all,
        .exclude_callchain_user = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1,
        .build_id = 1,
        .sample_regs_user = perf_registers_wanted,
        .sample_stack_user = PERF_STACK_LEAST,
    };
}

static void add_stacks(struct perf_event_attr *attr)
{
    attr->sample_type |=
        PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr->exclude_kernel = 0;
    attr->exclude_callchain_user = 1;
    attr->sample_regs_user = perf_registers_wanted;
    attr->sample_stack_user = PERF_STACK_SWITCH;
}

/* Of an event that never counts. */
static void set_switches(struct perf_rings *r, const struct perf_rings_options *how)
{
    r->attr = (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof r->attr,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
        .disabled = 1,
        .inherit = 1,
        .inherit_thread = how->no_children,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .context_switch = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1,
    };
    if (how->stacks) /* of other events in the same rings: all of one layout */
        add_stacks(&r->attr);
}

/* What an event may not do here is left out, one after the other. @return false: errno says why not */
static bool fit_attr(struct perf_rings *r, const struct perf_rings_options *how)
{
    const pid_t on = how->all ? -1 : 0;
    int fd = open_event(&r->attr, on, r->rings.at[0].cpu);

    if (fd < 0 && (errno == EACCES || errno == EPERM) && !r->attr.exclude_kernel) {
        r->attr.exclude_kernel = 1;
        fd = open_event(&r->attr, on, r->rings.at[0].cpu);
    }
    if (fd < 0 &&
        (errno == EINVAL || errno == E2BIG)) { /* Linux 6.12 reads counts of inherited events */
        r->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
        fd = open_event(&r->attr, on, r->rings.at[0].cpu);
    }
    if (fd < 0 && (errno == EINVAL || errno == E2BIG)) { /* Linux 5.12 */
        r->attr.build_id = 0;
        fd = open_event(&r->attr, on, r->rings.at[0].cpu);
    }
    if (fd < 0)
        return false;
    close(fd);
    r->counts = r->attr.sample_type & PERF_SAMPLE_READ;
    r->layout = (struct perf_layout){ r->attr.sample_type, r->attr.read_format,
                                      r->attr.sample_regs_user, true };
    return true;
}

/* --- Rings ---------------------------------------------------------------------------------------------- */

static size_t wanted_size(const struct perf_rings_options *how)
{
    /* Of all processes some have deep stacks, and many are new: their files are opened. */
    const uint64_t spare = how->all ? 16 : 4;
    const uint64_t bytes = (uint64_t)how->rate_hz * (PERF_STACK_LEAST + 1024) / DRAINS * spare;
    size_t size = RING_LEAST;

    while (size < bytes && size < RING_MOST)
        size *= 2;
    while (how->most > 0 && size > how->most && size > RING_LEAST)
        size /= 2;
    return size;
}

/* @return false: errno says why not */
static bool open_ring(struct perf_rings *r, int cpu, size_t size)
{
    struct perf_event_attr dummy = { .type = PERF_TYPE_SOFTWARE,
                                     .size = sizeof dummy,
                                     .config = PERF_COUNT_SW_DUMMY,
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1,
                                     .use_clockid = 1,
                                     .clockid = CLOCK_MONOTONIC,
                                     .watermark = 1,
                                     .wakeup_watermark = (uint32_t)size / 4 };
    struct perf_ring *ring = REPORT_NEXT(r->rings);

    if (!ring)
        return false;
    *ring =
        (struct perf_ring){ .fd = open_event(&dummy, 0, cpu), .cpu = cpu, .memory = MAP_FAILED };
    if (ring->fd < 0) {
        r->rings.count--;
        return errno == ENODEV; /* the CPU is not there */
    }
    ring->memory = mmap(NULL, page() + size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    ring->size = size;
    return ring->memory != MAP_FAILED;
}

static void close_rings(struct perf_rings *r)
{
    for (size_t i = 0; i < r->rings.count; i++) {
        if (r->rings.at[i].memory != MAP_FAILED)
            munmap(r->rings.at[i].memory, page() + r->rings.at[i].size);
        close(r->rings.at[i].fd);
    }
    r->rings.count = 0;
}

static const char *const ring_refused =
    "mmap of a perf event's ring (ulimit -l, kernel.perf_event_mlock_kb)";

/* One ring for each CPU, all of one size. @return NULL, or the call that failed: errno says why */
static const char *open_rings(struct perf_rings *r, size_t size)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);

    for (int cpu = 0; cpu < cpus; cpu++)
        if (!open_ring(r, cpu, size)) {
            const int error = errno;
            const char *what =
                r->rings.count > 0 && r->rings.at[r->rings.count - 1].memory == MAP_FAILED
                    ? ring_refused
                    : "perf_event_open";

            close_rings(r);
            errno = error;
            return what;
        }
    return r->rings.count > 0 ? NULL : "perf_event_open";
}

const char *perf_rings_open(struct perf_rings *out, const struct perf_rings_options *how)
{
    struct rlimit files;
    const char *what;

    /* The others are for what is read of processes and files. */
    *out = (struct perf_rings){ .limit = 512, .bounded = how->switches };
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        out->limit = (size_t)files.rlim_cur / 2;
    /* Locked memory is limited: half of it for each CPU, and not all of it for the first. */
    for (size_t size = wanted_size(how);; size /= 2) {
        what = open_rings(out, size);
        if (what != ring_refused || (errno != EPERM && errno != ENOMEM) || size / 2 < RING_LEAST)
            break;
    }
    if (what)
        return what;
    if (how->switches)
        set_switches(out, how);
    else
        set_attr(out, how);
    return fit_attr(out, how) ? NULL : "perf_event_open";
}

uint32_t perf_rings_stack_most(const struct perf_rings *r)
{
    const size_t quarter = r->rings.count > 0 ? r->rings.at[0].size / 4 : 0;

    return (quarter < PERF_STACK_MOST ? (uint32_t)quarter : PERF_STACK_MOST) & ~7U;
}

static void close_events(const struct perf_rings *r, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        close(r->events.at[i]);
}

bool perf_rings_watch(struct perf_rings *r, pid_t tid)
{
    const size_t before = r->events.count;

    for (size_t i = 0; i < r->rings.count; i++) {
        int *event = r->events.count < r->limit ? REPORT_NEXT(r->events) : NULL;

        if (event)
            *event = open_event(&r->attr, tid, r->rings.at[i].cpu);
        else
            errno = EMFILE;
        if (event && *event >= 0 &&
            ioctl(*event, PERF_EVENT_IOC_SET_OUTPUT, r->rings.at[i].fd) == 0)
            continue;
        {
            const int error = errno;

            r->events.count -= event && *event < 0;
            close_events(r, before, r->events.count);
            r->events.count = before;
            r->refused += error != ESRCH;
            errno = error;
            return false;
        }
    }
    return true;
}

int perf_rings_open_one(const struct perf_rings *r, struct perf_event_attr *attr, pid_t tid,
                        size_t ring)
{
    const int fd = open_event(attr, tid, r->rings.at[ring].cpu);
    int error;

    if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->rings.at[ring].fd) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool perf_rings_open_on(const struct perf_rings *r, struct perf_event_attr *attr, pid_t tid,
                        int *fds)
{
    for (size_t i = 0; i < r->rings.count; i++) {
        int error;

        fds[i] = perf_rings_open_one(r, attr, tid, i);
        if (fds[i] >= 0)
            continue;
        error = errno;
        for (size_t k = 0; k < i; k++)
            close(fds[k]);
        errno = error;
        return false;
    }
    return true;
}

void perf_rings_enable(struct perf_rings *r)
{
    for (; r->enabled < r->events.count; r->enabled++)
        ioctl(r->events.at[r->enabled], PERF_EVENT_IOC_ENABLE, 0);
}

void perf_rings_change(struct perf_rings *r, uint32_t stack, uint64_t period)
{
    close_events(r, 0, r->events.count);
    r->events.count = r->enabled = 0;
    r->attr.sample_stack_user = stack;
    r->attr.sample_period = period;
}

void perf_rings_wait(const struct perf_rings *r, int ms)
{
    struct pollfd polls[1024];
    nfds_t count = 0;

    for (size_t i = 0; i < r->rings.count && count < sizeof polls / sizeof *polls; i++)
        polls[count++] = (struct pollfd){ .fd = r->rings.at[i].fd, .events = POLLIN };
    poll(polls, count, ms);
}

/* --- Records -------------------------------------------------------------------------------------------- */

/* The kernel writes data_head behind the data. @return false: no memory */
static bool copy_ring(struct perf_rings *r, const struct perf_ring *ring)
{
    struct perf_event_mmap_page *control = ring->memory;
    const uint8_t *data = (const uint8_t *)ring->memory + page();
    const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    const uint64_t tail = control->data_tail;
    const size_t size = (size_t)(head - tail), at = (size_t)tail & (ring->size - 1);
    const size_t first = size < ring->size - at ? size : ring->size - at;

    if (size > ring->size || !array_make_room_for(&r->bytes, &r->room, r->size + size + 1))
        return false;
    memcpy(r->bytes + r->size, data + at, first);
    memcpy(r->bytes + r->size + first, data, size - first);
    r->size += size;
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
    return true;
}

static struct perf_record record_at(const struct perf_rings *r, size_t offset)
{
    struct perf_event_header header;

    memcpy(&header, r->bytes + offset, sizeof header);
    return (struct perf_record){ .type = header.type,
                                 .misc = header.misc,
                                 .bytes = r->bytes + offset + RECORD_HEADER,
                                 .size = header.size >= RECORD_HEADER ? header.size - RECORD_HEADER
                                                                      : 0 };
}

/* Notes the records that were copied. @return false: no memory */
static bool note_records(struct perf_rings *r, size_t from)
{
    while (from + RECORD_HEADER <= r->size) {
        const struct perf_record record = record_at(r, from);
        const size_t size = record.size + RECORD_HEADER;
        struct perf_batch_entry *next;
        struct perf_ids ids;

        if (size > r->size - from)
            break;
        next = REPORT_NEXT(r->entries);
        if (!next)
            return false;
        perf_ids_read(&ids, &r->layout, &record);
        *next = (struct perf_batch_entry){ ids.time, from };
        from += size;
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct perf_batch_entry *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Drops what was given: the records from an entry on stay. */
static bool keep_rest(struct perf_rings *r, size_t given)
{
    size_t size = 0, room = 0;
    uint8_t *bytes = NULL;

    for (size_t i = given; i < r->entries.count; i++)
        size += record_at(r, r->entries.at[i].offset).size + RECORD_HEADER;
    if (size > 0 && !array_make_room_for(&bytes, &room, size))
        return false;
    size = 0;
    for (size_t i = given; i < r->entries.count; i++) {
        const size_t each = record_at(r, r->entries.at[i].offset).size + RECORD_HEADER;

        if (bytes) /* there is room, for size was above 0 */
            memcpy(bytes + size, r->bytes + r->entries.at[i].offset, each);
        r->entries.at[i - given] = (struct perf_batch_entry){ r->entries.at[i].time, size };
        size += each;
    }
    r->entries.count -= given;
    r->size = size;
    if (size > 0) {
        free(r->bytes);
        r->bytes = bytes;
        r->room = room;
    }
    return true;
}

/* @return false: no memory */
static bool copy_all(struct perf_rings *r)
{
    for (size_t i = 0; i < r->rings.count && r->size < KEPT_MOST; i++)
        if (!copy_ring(r, &r->rings.at[i]))
            return false;
    return true;
}

bool perf_rings_empty(struct perf_rings *r)
{
    const size_t from = r->size;

    return copy_all(r) && note_records(r, from);
}

/*
 * A record may take milliseconds: a process's files are opened for its first sample. The rings are emptied meanwhile, or they
 * would overflow.
 */
bool perf_rings_take(struct perf_rings *r, uint64_t now,
                     bool (*take)(void *user, const struct perf_record *record,
                                  const struct perf_ids *ids),
                     void *user)
{
    bool good = perf_rings_empty(r);
    const size_t noted = r->size, count = r->entries.count;
    size_t given = 0;

    if (good && count > 0)
        qsort(r->entries.at, count, sizeof *r->entries.at, by_time);
    for (; good && given < count && r->entries.at[given].time <= now; given++) {
        const struct perf_record record = record_at(r, r->entries.at[given].offset);
        struct perf_ids ids;

        perf_ids_read(&ids, &r->layout, &record);
        good = take(user, &record, &ids) && (r->bounded || given % EMPTY_EVERY != 0 || copy_all(r));
    }
    return good && note_records(r, noted) && keep_rest(r, given);
}

void perf_rings_close(struct perf_rings *r)
{
    close_events(r, 0, r->events.count);
    close_rings(r);
    free(r->events.at);
    free(r->rings.at);
    free(r->entries.at);
    free(r->bytes);
}
