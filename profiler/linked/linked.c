/*
 * The program records itself: the memory that `sfb record` would share is its own, and a thread reads it and writes the
 * file.
 */
#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "base/sized.h"
#include "profiler/agent/clocks.h"
#include "profiler/agent/cpu/begin.h"
#include "profiler/agent/cpu/cpu_process.h"
#include "profiler/agent/cpu/helper.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_life.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/machine.h"
#include "profiler/agent/real.h"
#include "profiler/agent/slot.h"
#include "profiler/agent/space.h"
#include "profiler/collector/rings/control.h"
#include "profiler/collector/rings/drain.h"
#include "profiler/protocol/beacon_hold.h"
#include "sfb/recording.h"
#include "sframe_backtrace.h"
#include "sframe_backtrace_record.h"

_Static_assert(sizeof(struct sfb_shared) <= SFB_SHARED_PAGE / 2, "room for the beacon");

enum { RATE_HZ = 997, RATE_MAX_HZ = 20000, TURN_MS = 10, FREE_SLOTS = 16 };

#define FLUSH_NS ((uint64_t)1000000000)

static struct {
    pid_t pid; /* that has started it; 0: none */
    pthread_t thread;
    uint32_t stop;
    int fd; /* of the recording */
    enum sfb_status status;
    struct sfb_shared *shared;
    struct sfb_recording_writer *writer;
    struct sfb_recorder_drain *drain;
} own;

/* Until the thread that reads the memory has taken the lock of its own. */
static const struct sfb_shared_beacon lit = { .owner.holder = 1 };

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of starting and stopping; not taken to sample */

/* In the first page, behind the header. */
static struct sfb_shared_beacon *beacon_of(struct sfb_shared *shared)
{
    return (struct sfb_shared_beacon *)(void *)((uint8_t *)shared + SFB_SHARED_PAGE / 2);
}

/*
 * From now on children see when this process has died. Without it they go on until they end.
 *
 * @return whether it is lit
 */
static bool light_beacon(void)
{
    if (!sfb_beacon_hold(beacon_of(own.shared)))
        return false;
    __atomic_store_n(&sfb_agent.beacon, beacon_of(own.shared), __ATOMIC_RELEASE);
    return true;
}

/* --- What `sfb ctl` asks ------------------------------------------------------------------------------- */

/*
 * From here on this thread has a table of descriptors of its own, with the recording alone: no descriptor of ours is in the
 * program's, where daemons close what they do not know, and none of the program's is kept open here.
 */
static bool has_own_descriptors(void)
{
    const unsigned fd = (unsigned)own.fd;

    return syscall(SYS_close_range, fd + 1, ~0U, CLOSE_RANGE_UNSHARE) == 0 &&
           (fd == 0 || syscall(SYS_close_range, 0, fd - 1, 0) == 0);
}

/* This process, and children of fork() that are recorded with it. */
static bool knows(void *unused, pid_t pid)
{
    uint32_t free = 0;

    (void)unused;
    /* Behind some free slots no other one was taken: to read them all would give them pages. */
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX && free < FREE_SLOTS && pid != getpid(); i++) {
        const struct sfb_shared_process *p = sfb_agent_process(i);
        const bool is_free = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == SFB_SLOT_FREE;

        free = is_free ? free + 1 : 0;
        if (!is_free && __atomic_load_n(&p->pid, __ATOMIC_RELAXED) == (uint32_t)pid)
            return true;
    }
    return pid == getpid();
}

static bool pause_recording(void *unused, bool paused)
{
    (void)unused;
    return sfb_recorder_drain_pause(own.drain, paused) == SFB_OK;
}

static unsigned marks(void *unused)
{
    struct sfb_recorder_totals totals;

    (void)unused;
    sfb_recorder_drain_totals(own.drain, &totals);
    return totals.marks;
}

/* After a seccomp filter, or under one of before, no call is made that the recording does not need: it may end the process. */
static bool is_filtered(void)
{
    return __atomic_load_n(&sfb_agent.left_alone, __ATOMIC_RELAXED) != 0 ||
           syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
}

static void open_control(struct sfb_recorder_control *out, char *file, size_t room)
{
    char path[32];
    ssize_t size;

    *out = (struct sfb_recorder_control){ .fd = -1 };
    if (is_filtered() || !has_own_descriptors())
        return;
    snprintf(path, sizeof path, "/proc/self/task/%ld/fd/%d", syscall(SYS_gettid), own.fd);
    size = readlink(path, file, room - 1);
    file[size > 0 ? size : 0] = '\0';
    sfb_recorder_control_open(out, false);
}

/* One look every 10 ms, or when an agent says that something cannot wait. */
static void *drain(void *unused)
{
    const struct timespec turn = { .tv_nsec = TURN_MS * 1000000L };
    uint64_t flushed = sfb_now(), next_look = 0;
    char file[256];
    const struct sfb_recorder_controlled controlled = {
        .file = file, .writer = own.writer, .knows = knows, .pause = pause_recording, .marks = marks
    };
    struct sfb_recorder_control control;
    uint32_t wake = 0;
    bool is_lit;

    (void)unused;
    sfb_helper_begin(SFB_HELPER_DRAIN, "sfb-drain");
    is_lit = light_beacon();
    open_control(&control, file, sizeof file);
    while (!__atomic_load_n(&own.stop, __ATOMIC_ACQUIRE) && own.status == SFB_OK) {
        own.status = sfb_recorder_drain(own.drain);
        if (own.status == SFB_OK && !__atomic_load_n(&sfb_agent.left_alone, __ATOMIC_RELAXED))
            sfb_recorder_control_take(&control, &controlled);
        if (sfb_helper_is_alone(&next_look)) {
            sfb_helper_leave(); /* the C library calls exit() for the last thread, which stops the recording */
            break;
        }
        if (sfb_now() - flushed > FLUSH_NS) {
            sfb_recording_writer_flush(own.writer);
            flushed = sfb_now();
        }
        syscall(SYS_futex, &own.shared->wake, FUTEX_WAIT, wake, &turn, NULL, 0);
        wake = __atomic_load_n(&own.shared->wake, __ATOMIC_ACQUIRE);
    }
    if (!__atomic_load_n(&sfb_agent.left_alone, __ATOMIC_RELAXED))
        sfb_recorder_control_close(&control);
    if (is_lit)
        sfb_beacon_put_out(beacon_of(own.shared)); /* as the end of this thread would */
    return NULL;
}

/*
 * At the place of the one before, in one step: a late handler looks there whether it may still write. A child of fork()
 * keeps that one.
 */
static struct sfb_shared *make_shared(struct sfb_shared *before, uint32_t rate_hz)
{
    struct sfb_shared *shared =
        mmap(before, sfb_shared_size(SFB_SHARED_CPU_RING), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | (before ? MAP_FIXED : 0), -1, 0);

    if (shared == MAP_FAILED)
        return NULL;
    madvise(shared, sfb_shared_size(SFB_SHARED_CPU_RING),
            MADV_DONTDUMP); /* all of it would be in a core dump */
    memcpy(shared->magic, SFB_SHARED_MAGIC, sizeof shared->magic);
    shared->version = SFB_SHARED_VERSION;
    shared->rate_hz = rate_hz ? rate_hz : RATE_HZ;
    shared->engines = 1U << SFB_ENGINE_TIMER | 1U << SFB_ENGINE_SAMPLER;
    shared->signal = SIGPROF;
    shared->period_ns = 1000000000U / shared->rate_hz;
    shared->mode = SFB_SHARED_CPU;
    shared->ring_bytes = SFB_SHARED_CPU_RING;
    return shared;
}

static enum sfb_status open_writer(const struct sframe_backtrace_record_options *options)
{
    struct sfb_recording_writer_options how = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct timespec tick = { 0, 0 };
    struct utsname host;
    struct sfb_recording_start start = { .monotonic = sfb_now(),
                                         .realtime = sfb_clock(CLOCK_REALTIME),
                                         .rate_hz = own.shared->rate_hz,
                                         .engine = SFB_ENGINE_TIMER,
                                         .recorder_pid = (uint32_t)getpid(),
                                         .abi = (uint32_t)sfb_machine_abi,
                                         .engine_text = "the program records itself",
                                         .version = "sframe_backtrace_record_start()" };

    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    start.tick_ns = (uint64_t)tick.tv_nsec;
    start.command = sfb_slot_arguments(&start.command_size);
    start.host = uname(&host) == 0 ? host.nodename : "";
    how.max_size = options->max_size;
    return sfb_recording_writer_open(&own.writer, options->fd, &start, &how);
}

static bool start_thread(void)
{
    sigset_t all, old;
    bool started;

    sigfillset(&all);
    sfb_real()->pthread_sigmask(SIG_SETMASK, &all, &old);
    started = sfb_real()->pthread_create(&own.thread, NULL, drain, NULL) == 0;
    sfb_real()->pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

static enum sfb_status finish(const char *reason)
{
    enum sfb_status status = SFB_OK, closed;

    if (own.drain) {
        status = sfb_recorder_drain_finish(own.drain);
        sfb_recorder_drain_close(own.drain);
    }
    closed = own.writer ? sfb_recording_writer_close(own.writer, sfb_now(), reason) : SFB_OK;
    own.drain = NULL;
    own.writer = NULL;
    own.pid = 0;
    return status != SFB_OK ? status : closed;
}

static enum sfb_status start(const struct sframe_backtrace_record_options *options)
{
    struct sfb_recorder_drain_options how = { .fd = -1 };
    enum sfb_status status;

    struct sfb_shared *shared;

    if (!sfb_begin_may())
        return SFB_NO_RESOURCE;
    shared = make_shared(own.shared, options->rate_hz);
    if (!shared)
        return SFB_NO_RESOURCE;
    own.shared = shared;
    sfb_space.kind = &sfb_thread_space;
    sfb_space_whole(shared, false); /* the thread that reads it is in this process, and reads all */
    sfb_agent.beacon = &lit;
    own.stop = 0;
    own.fd = options->fd;
    own.status = SFB_OK;
    status = open_writer(options);
    if (status != SFB_OK)
        return status;
    how.shared = own.shared;
    how.writer = own.writer;
    status = sfb_recorder_drain_open(&own.drain, &how);
    own.pid = getpid();
    if (status == SFB_OK &&
        (!sfb_begin(own.shared, sfb_clock(CLOCK_PROCESS_CPUTIME_ID), true) || !start_thread())) {
        __atomic_store_n(&own.shared->ended, 1, __ATOMIC_RELEASE);
        status = SFB_NO_RESOURCE;
    }
    if (status != SFB_OK)
        finish("it could not be begun");
    return status;
}

static enum sfb_status check(const struct sframe_backtrace_record_options *given,
                             struct sframe_backtrace_record_options *out)
{
    const enum sfb_status status =
        given ? sfb_sized_read(out, sizeof *out, given) : SFB_BAD_ARGUMENT;

    if (status != SFB_OK)
        return status;
    return out->fd >= 0 && out->rate_hz <= RATE_MAX_HZ ? SFB_OK : SFB_BAD_ARGUMENT;
}

SFB_INTERPOSED enum sfb_status sframe_backtrace_record_start(
    const struct sframe_backtrace_record_options *options)
{
    struct sframe_backtrace_record_options copy;
    enum sfb_status status = check(options, &copy);

    if (status != SFB_OK)
        return status;
    pthread_mutex_lock(&lock);
    if (own.pid || (sfb_agent.shared && !sfb_agent_is_over()))
        status = SFB_BAD_ARGUMENT;
    else
        status = start(&copy);
    pthread_mutex_unlock(&lock);
    return status;
}

SFB_INTERPOSED enum sfb_status sframe_backtrace_record_stop(void)
{
    enum sfb_status status = SFB_BAD_ARGUMENT;

    pthread_mutex_lock(&lock);
    if (own.pid == getpid()) {
        __atomic_store_n(&own.stop, 1, __ATOMIC_RELEASE);
        __atomic_fetch_add(&own.shared->wake, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &own.shared->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        if (!pthread_equal(own.thread, pthread_self())) /* it is the last one, in exit() */
            pthread_join(own.thread, NULL);
        /* Nothing clears a slot now: handlers that are at work come to their end in it, and their samples are read. */
        sfb_process_end();
        sfb_begin_may();
        status = finish("the program ended it");
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* exit() while it records. In a child of fork() it is the parent's. */
__attribute__((destructor)) static void stop_at_exit(void)
{
    if (own.pid && own.pid == getpid())
        sframe_backtrace_record_stop();
}
