#include "profiler/tests/heap/drainer.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/session/session.h"
#include "profiler/protocol/beacon_hold.h"
#include "sfb/cbf.h"
#include "support/limit.h"
#include "support/test.h"

enum { TURN_MS = 5, WORDS_MAX = 16 };

struct drainer {
    struct heap_log *log;
    struct sfb_recorder_session session;
    uint32_t thread_of[SFB_SHARED_RING_MAX];     /* index + 1 */
    uint32_t process_of[SFB_SHARED_PROCESS_MAX]; /* index + 1 */
    uint64_t tail[SFB_SHARED_RING_MAX];
};

static struct sfb_shared_process *process_at(const struct drainer *d, uint32_t slot)
{
    return (struct sfb_shared_process *)(void *)((uint8_t *)d->session.shared +
                                                 SFB_SHARED_PROCESSES_AT) +
           slot;
}

/* --- records ------------------------------------------------------------------------------------- */

static void add_event(struct heap_log *log, const struct heap_event *event)
{
    if (log->event_count == log->event_room) {
        log->event_room = log->event_room ? 2 * log->event_room : 65536;
        log->event = realloc(log->event, log->event_room * sizeof *log->event);
        cr_assert(log->event != NULL);
    }
    log->event[log->event_count] = *event;
    log->event[log->event_count].order = log->event_count;
    log->event_count++;
}

static void decode(struct heap_stack *stack, const uint8_t *cbf, size_t size)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, cbf, size, &options, NULL);

    stack->frames = 0;
    while (status == SFB_OK && (status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK)
        for (uint64_t i = 0; i < item.count; i++, stack->frames++)
            if (stack->frames < sizeof stack->frame / sizeof *stack->frame)
                stack->frame[stack->frames] = item.value;
    cr_assert_eq(status, SFB_END, "a stack cannot be decoded: %s", sfb_status_str(status));
}

/* @return its words */
static size_t take_stack(struct heap_log *log, uint32_t process, const uint64_t *record)
{
    const size_t size = record[2] & UINT32_MAX;
    struct heap_stack *stack = log->stack;

    while (stack < log->stack + log->stack_count &&
           (stack->hash != record[1] || stack->process != process))
        stack++;
    if (stack == log->stack + log->stack_count) {
        cr_assert_lt(log->stack_count, HEAP_STACKS);
        log->stack_count++;
        stack->hash = record[1];
        stack->process = process;
    }
    stack->sent++;
    stack->end = (uint32_t)(record[2] >> SFB_HEAP_END_SHIFT) & 0xff;
    decode(stack, (const uint8_t *)(record + 3), size);
    return 3 + (size + 7) / 8;
}

/* @return its words; 0: it goes to the end of data */
static size_t take(struct heap_log *log, uint32_t thread, const uint64_t *record)
{
    struct heap_event event = { .time = record[0] >> SFB_HEAP_KIND_BITS,
                                .kind = record[0] & 0xff,
                                .thread = thread };

    switch (event.kind) {
    case SFB_HEAP_PAD: return 0;
    case SFB_HEAP_STACK: return take_stack(log, log->thread[thread].process, record);
    case SFB_HEAP_ALLOC:
    case SFB_HEAP_ALLOC_REALLOC:
    case SFB_HEAP_ALLOC_MMAP:
        event.pointer = record[1];
        event.size = record[2] & (((uint64_t)1 << SFB_HEAP_SLACK_SHIFT) - 1);
        event.slack = record[2] >> SFB_HEAP_SLACK_SHIFT;
        event.hash = record[3];
        add_event(log, &event);
        return 4;
    case SFB_HEAP_FREE_MMAP: event.size = record[2]; /* fall through */
    case SFB_HEAP_FREE:
    case SFB_HEAP_FREE_REALLOC:
    case SFB_HEAP_REALLOC_FAILED:
        event.pointer = record[1];
        add_event(log, &event);
        return event.kind == SFB_HEAP_FREE_MMAP ? 3 : 2;
    case SFB_HEAP_NAME: memcpy(log->thread[thread].name, record + 1, 16); return 3;
    default: cr_assert(false, "a record of kind %u", event.kind); return 0;
    }
}

static void read_ring(struct drainer *d, uint32_t slot)
{
    struct sfb_shared_ring *ring = sfb_shared_ring(d->session.shared, SFB_SHARED_HEAP_RING, slot);
    const uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);

    cr_assert_leq(head - d->tail[slot], SFB_SHARED_HEAP_RING);
    while (d->tail[slot] < head) {
        const size_t at = d->tail[slot] % SFB_SHARED_HEAP_RING;
        size_t size = 8 * take(d->log, d->thread_of[slot] - 1,
                               (const uint64_t *)(const void *)(ring->data + at));

        if (size == 0)
            size = SFB_SHARED_HEAP_RING - at;
        cr_assert_leq(at + size, SFB_SHARED_HEAP_RING);
        d->tail[slot] += size;
    }
    cr_assert_eq(d->tail[slot], head);
    __atomic_store_n(&ring->tail, head, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &ring->tail, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- slots --------------------------------------------------------------------------------------- */

static void begin_process(struct drainer *d, uint32_t slot)
{
    const struct sfb_shared_process *shared = process_at(d, slot);
    struct heap_process *p = &d->log->process[d->log->process_count];

    cr_assert_lt(d->log->process_count, HEAP_PROCESSES);
    d->process_of[slot] = ++d->log->process_count;
    p->pid = shared->pid;
    p->how = shared->how;
    p->modules = shared->modules_size;
    p->has_program = memmem(shared->modules, shared->modules_size, "heap-", 5) != NULL;
    p->parent = shared->parent ? (int)d->process_of[shared->parent - 1] - 1 : -1;
}

static void begin_thread(struct drainer *d, uint32_t slot, const struct sfb_shared_ring *ring)
{
    struct heap_thread *t = &d->log->thread[d->log->thread_count];

    cr_assert_lt(d->log->thread_count, HEAP_THREADS);
    d->thread_of[slot] = ++d->log->thread_count;
    d->tail[slot] = 0;
    t->process = d->process_of[ring->process] - 1;
    t->tid = ring->tid;
    memcpy(t->name, ring->name, 16);
}

static bool is_gone(const struct heap_log *log, const struct heap_thread *t)
{
    return syscall(SYS_tgkill, log->process[t->process].pid, t->tid, 0) != 0;
}

static void end_thread(struct drainer *d, uint32_t slot, struct sfb_shared_ring *ring)
{
    struct heap_thread *t = &d->log->thread[d->thread_of[slot] - 1];

    t->ended = ring->state == SFB_SLOT_ENDED;
    memcpy(t->lost, ring->lost, sizeof t->lost);
    d->thread_of[slot] = 0;
    memset(ring, 0, sizeof *ring);
}

/* @param all  the program is gone */
static void turn(struct drainer *d, bool all)
{
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_shared_process *p = process_at(d, i);

        if (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) != SFB_SLOT_LIVE)
            continue;
        if (!d->process_of[i])
            begin_process(d, i);
        __atomic_store_n(&p->modules_taken, p->modules_written, __ATOMIC_RELEASE);
        d->log->process[d->process_of[i] - 1].end = p->end;
        memcpy(d->log->process[d->process_of[i] - 1].lost, p->lost, sizeof p->lost);
    }
    for (uint32_t i = 0; i < SFB_SHARED_RING_MAX; i++) {
        struct sfb_shared_ring *ring = sfb_shared_ring(d->session.shared, SFB_SHARED_HEAP_RING, i);
        const uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
        bool gone;

        if ((state != SFB_SLOT_LIVE && state != SFB_SLOT_ENDED) || !d->process_of[ring->process])
            continue;
        if (!d->thread_of[i])
            begin_thread(d, i, ring);
        gone = all ||
               (state == SFB_SLOT_ENDED && is_gone(d->log, &d->log->thread[d->thread_of[i] - 1]));
        read_ring(d, i);
        if (gone)
            end_thread(d, i, ring);
    }
}

/* --- the program --------------------------------------------------------------------------------- */

void heap_preload(const char *libraries)
{
#ifdef SFB_EMULATED /* the emulator's own loader must not see it */
    char variable[2100];

    snprintf(variable, sizeof variable, "LD_PRELOAD=%s", libraries);
    setenv("QEMU_SET_ENV", variable, 1);
#else
    setenv("LD_PRELOAD", libraries, 1);
#endif
}

static pid_t begin_program(const struct drainer *d, const struct heap_how *how, const char *words,
                           int out)
{
    char text[512], preload[2048], *list[WORDS_MAX + 1] = { NULL }, *rest = text;
    size_t count = 0;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(text, sizeof text, "%s", words);
    for (char *word; count < WORDS_MAX && (word = strsep(&rest, " "));)
        list[count++] = word;
    snprintf(preload, sizeof preload, "%s:%s", SFB_HEAP_AGENT, how->behind ? how->behind : "");
    setenv(SFB_SHARED_ENVIRONMENT, d->session.text, 1);
    if (how->seed)
        setenv("SFB_HEAP_SEED", how->seed, 1);
    heap_preload(preload);
    dup2(out, 1);
    execve(list[0], list, environ);
    _exit(126);
}

static long long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static char *read_all(int fd)
{
    char *text = calloc(1, 65536);

    cr_assert_geq(pread(fd, text, 65535, 0), 0);
    return text;
}

static int by_time(const void *a, const void *b)
{
    const struct heap_event *one = a, *other = b;

    if (one->time != other->time)
        return one->time < other->time ? -1 : 1;
    return one->order < other->order ? -1 : one->order > other->order;
}

static void open_session(struct drainer *d, const struct heap_how *how)
{
    const bool loses = how->reading > HEAP_READ_AFTER_WAITING;
    const struct sfb_recorder_session_options options = {
        .mode = SFB_SHARED_HEAP,
        .flags = how->flags,
        .heap_rate = how->rate,
        .heap_flags = how->heap_flags | (loses ? 0 : SFB_SHARED_HEAP_WAIT),
    };
    const char *wrong = sfb_recorder_session_open(&d->session, &options);

    cr_assert(wrong == NULL, "%s", wrong);
    if (how->clock) {
        d->session.shared->counter = 0;
        d->session.shared->counter_start = 0;
    }
}

/* Whether a thread waits for room or for a ring, or has. */
static bool has_waited(const struct drainer *d)
{
    bool any = false;

    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        any |= __atomic_load_n(&process_at(d, i)->lost[SFB_LOSS_HEAP_WAITS], __ATOMIC_RELAXED) > 0;
    for (uint32_t i = 0; i < SFB_SHARED_RING_MAX; i++) {
        struct sfb_shared_ring *ring = sfb_shared_ring(d->session.shared, SFB_SHARED_HEAP_RING, i);

        any |= __atomic_load_n(&ring->lost[SFB_LOSS_HEAP_WAITS], __ATOMIC_RELAXED) > 0;
    }
    return any;
}

/* Whether what the reading begins with has come. */
static bool may_read(const struct drainer *d, enum heap_reading reading)
{
    const struct timespec longer = { 1, 300000000 }; /* than a thread waits: a second */

    switch (reading) {
    case HEAP_READ_AT_ONCE: return true;
    case HEAP_READ_AFTER_WAITING:
        if (!has_waited(d))
            return false;
        nanosleep(&longer, NULL);
        return true;
    case HEAP_READ_AT_THE_END: return false;
    }
    return false;
}

struct heap_log *heap_record(const struct heap_how *how, const char *words)
{
    static const struct heap_how usual;
    struct drainer *d = calloc(1, sizeof *d);
    struct heap_log *log = calloc(1, sizeof *log);
    int out = memfd_create("out", MFD_CLOEXEC);
    const long long begun = now_ms();
    bool left = true, reads = false;
    pid_t pid;

    how = how ? how : &usual;
    d->log = log;
    open_session(d, how);
    pid = begin_program(d, how, words, out);
    cr_assert_geq(pid, 1);
    while (left) {
        const uint32_t wake = __atomic_load_n(&d->session.shared->wake, __ATOMIC_ACQUIRE);
        const struct timespec pause = { .tv_nsec = TURN_MS * 1000000L };

        if (waitpid(pid, &log->status, WNOHANG) == pid)
            left = false;
        if (how->gone && wake > 0)
            sfb_beacon_put_out(d->session.beacon);
        reads = reads || may_read(d, how->reading);
        if (reads)
            turn(d, false);
        if (left && now_ms() - begun > HANG_SECONDS * 1000LL) {
            kill(pid, SIGKILL);
            waitpid(pid, &log->status, 0);
            cr_assert(false, "%s: not over after %d s", words, HANG_SECONDS);
        }
        syscall(SYS_futex, &d->session.shared->wake, FUTEX_WAIT, wake, &pause, NULL, 0);
    }
    turn(d, false);
    turn(d, true);
    log->out = read_all(out);
    close(out);
    sfb_recorder_session_close(&d->session);
    free(d);
    qsort(log->event, log->event_count, sizeof *log->event, by_time);
    return log;
}

void heap_log_free(struct heap_log *log)
{
    free(log->event);
    free(log->out);
    free(log);
}
