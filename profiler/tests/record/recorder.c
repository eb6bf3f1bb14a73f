#include "profiler/tests/record/recorder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/limit.h"

enum { TURN_MS = 5, WORDS_MAX = 16 };

static const char key_text[] = "000102030405060708090a0b0c0d0e0f";

struct session {
    struct sfb_shared *shared;
    struct sfb_shared_beacon *beacon;
    int fd, beacon_fd, socket;
    struct recorded *out;
    int process_of[SFB_SHARED_PROCESS_MAX]; /* slot -> index + 1 */
    int thread_of[SFB_SHARED_RING_MAX];
    uint64_t tail[SFB_SHARED_RING_MAX];
};

static struct sfb_shared_process *process_at(const struct session *s, size_t slot)
{
    return (struct sfb_shared_process *)(void *)((uint8_t *)s->shared + SFB_SHARED_PROCESSES_AT) +
           slot;
}

static struct sfb_shared_ring *ring_at(const struct session *s, size_t slot)
{
    return sfb_shared_ring(s->shared, SFB_SHARED_CPU_RING, (uint32_t)slot);
}

static void *make_memory(int *fd, size_t size)
{
    void *at;

    *fd = memfd_create("sfb-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    cr_assert_geq(*fd, 0);
    cr_assert_eq(ftruncate(*fd, (off_t)size), 0);
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    cr_assert_neq(at, MAP_FAILED);
    cr_assert_eq(fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    return at;
}

static void light_beacon(struct session *s)
{
    struct stat memory;

    s->beacon = make_memory(&s->beacon_fd, SFB_SHARED_PAGE);
    cr_assert_eq(fstat(s->fd, &memory), 0);
    memcpy(s->beacon->magic, SFB_SHARED_MAGIC, sizeof s->beacon->magic);
    s->beacon->version = SFB_SHARED_VERSION;
    memcpy(s->beacon->key, s->shared->key, sizeof s->beacon->key);
    s->beacon->memory_inode = memory.st_ino;
    s->beacon->owner.holder = (uint32_t)getpid();
}

static void open_session(struct session *s, const struct record_how *how)
{
    struct sfb_shared *shared = make_memory(&s->fd, sfb_shared_size(SFB_SHARED_CPU_RING));

    memcpy(shared->magic, SFB_SHARED_MAGIC, sizeof shared->magic);
    shared->version = SFB_SHARED_VERSION;
    for (size_t i = 0; i < sizeof shared->key; i++)
        shared->key[i] = (uint8_t)i;
    shared->rate_hz = how->rate_hz ? how->rate_hz : 997;
    shared->engines =
        how->engines ? how->engines : 1U << SFB_ENGINE_TIMER | 1U << SFB_ENGINE_SAMPLER;
    shared->flags = how->flags;
    shared->signal = SIGPROF;
    shared->mode = SFB_SHARED_CPU;
    shared->ring_bytes = SFB_SHARED_CPU_RING;
    s->shared = shared;
    s->socket = -1;
    light_beacon(s);
}

static void listen_at_socket(struct session *s)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    size_t size = offsetof(struct sockaddr_un, sun_path) + 1 + sizeof SFB_SHARED_SOCKET - 1 + 32;

    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s%s", SFB_SHARED_SOCKET, key_text);
    s->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    cr_assert_geq(s->socket, 0);
    cr_assert_eq(bind(s->socket, (struct sockaddr *)&name, (socklen_t)size), 0);
    cr_assert_eq(listen(s->socket, 8), 0);
}

static void answer_at_socket(struct session *s)
{
    const int sent[] = { s->fd, s->beacon_fd };
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof sent)];
    } control = { .head = { .cmsg_len = CMSG_LEN(sizeof sent),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS } };
    char byte = 1;
    struct iovec bytes = { &byte, 1 };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof control };
    int fd = accept4(s->socket, NULL, &(socklen_t){ 0 }, SOCK_CLOEXEC);

    if (fd < 0)
        return;
    memcpy(CMSG_DATA(&control.head), sent, sizeof sent);
    cr_expect_eq(sendmsg(fd, &message, MSG_NOSIGNAL), 1);
    close(fd);
}

/* --- what stands in the memory ------------------------------------------------------------------- */

static void take_modules(struct recorded_process *out, struct sfb_shared_process *p)
{
    uint32_t written = __atomic_load_n(&p->modules_written, __ATOMIC_ACQUIRE);
    struct recorded_list *list = &out->list[out->list_count];

    if (written == p->modules_taken)
        return;
    cr_assert_eq(written, p->modules_taken + 1);
    cr_assert_leq(p->modules_size, SFB_SHARED_MODULES);
    cr_assert_lt(out->list_count, LISTS_MAX);
    *list = (struct recorded_list){ .time = p->modules_time,
                                    .map = malloc(p->modules_size),
                                    .size = p->modules_size };
    memcpy(list->map, p->modules, list->size);
    out->list_count++;
    __atomic_store_n(&p->modules_taken, written, __ATOMIC_RELEASE);
}

static void begin_process(struct session *s, size_t slot, const struct sfb_shared_process *p)
{
    struct recorded_process *out = &s->out->process[s->out->process_count];
    size_t used = strnlen(p->text, sizeof p->text) + 1;

    cr_assert_lt(s->out->process_count, PROCESSES_MAX);
    s->process_of[slot] = (int)++s->out->process_count;
    out->pid = p->pid;
    out->parent_pid = p->parent_pid;
    out->how = p->how;
    out->parent = p->parent ? s->process_of[p->parent - 1] - 1 : -1;
    out->start = p->start;
    out->cpu_start = p->cpu_start;
    snprintf(out->program, sizeof out->program, "%s", p->text);
    for (size_t i = used; i < p->text_size && i - used < sizeof out->arguments - 1; i++)
        out->arguments[i - used] = p->text[i] ? p->text[i] : ' ';
}

static void end_process(struct session *s, size_t slot, struct sfb_shared_process *p)
{
    struct recorded_process *out = &s->out->process[s->process_of[slot] - 1];

    out->ended = p->state == SFB_SLOT_ENDED;
    out->end = p->end;
    out->cpu_end = p->cpu_end;
    memcpy(out->lost, p->lost, sizeof out->lost);
    s->process_of[slot] = 0;
    memset(p, 0, sizeof *p);
}

static void begin_thread(struct session *s, size_t slot, const struct sfb_shared_ring *ring)
{
    struct recorded_thread *out = &s->out->thread[s->out->thread_count];

    cr_assert_lt(s->out->thread_count, THREADS_MAX);
    cr_assert_lt(ring->process, SFB_SHARED_PROCESS_MAX);
    cr_assert_gt(s->process_of[ring->process], 0, "a thread before its process");
    s->thread_of[slot] = (int)++s->out->thread_count;
    s->tail[slot] = 0;
    out->process = s->process_of[ring->process] - 1;
    out->tid = ring->tid;
    out->engine = ring->engine;
    out->start = ring->start;
    out->cpu_start = ring->cpu_start;
    memcpy(out->name, ring->name, sizeof out->name);
    memcpy(out->last_name, ring->name, sizeof out->name);
}

static struct recorded_stack *find_stack(struct recorded *out, int process, uint64_t hash)
{
    for (size_t i = 0; i < out->stack_count; i++)
        if (out->stack[i].hash == hash && out->stack[i].process == process)
            return &out->stack[i];
    cr_assert_lt(out->stack_count, STACKS_MAX);
    out->stack[out->stack_count] = (struct recorded_stack){ .process = process, .hash = hash };
    return &out->stack[out->stack_count++];
}

static void take_sample(struct recorded *out, struct recorded_thread *t,
                        const struct sfb_shared_sample *sample)
{
    struct recorded_stack *stack;

    cr_assert_geq(sample->head.size, sizeof *sample + sample->head.cbf_size);
    cr_assert_gt(sample->weight, 0);
    cr_assert_lt(sample->engine, 8);
    t->samples++;
    t->weight += sample->weight;
    t->by_engine[sample->engine]++;
    t->whole += sample->end == SFB_END || sample->end == SFB_UNPROVEN_END;
    if (!sample->hash)
        return;
    stack = find_stack(out, t->process, sample->hash);
    stack->samples++;
    stack->weight += sample->weight;
    stack->modules = sample->modules;
    if (sample->head.kind != SFB_RECORD_STACK || stack->cbf)
        return;
    stack->size = sample->head.cbf_size;
    stack->cbf = malloc(stack->size);
    memcpy(stack->cbf, sample + 1, stack->size);
}

static void drain(struct session *s, size_t slot, struct sfb_shared_ring *ring)
{
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    struct recorded_thread *t = &s->out->thread[s->thread_of[slot] - 1];

    cr_assert_leq(head - s->tail[slot], SFB_SHARED_CPU_RING);
    while (s->tail[slot] < head) {
        size_t at = s->tail[slot] % SFB_SHARED_CPU_RING;
        union {
            struct sfb_shared_record_head head;
            struct sfb_shared_sample sample;
            struct sfb_shared_name name;
        } *record = (void *)(ring->data + at);

        cr_assert(record->head.size >= 8 && record->head.size % 8 == 0);
        cr_assert_leq(at + record->head.size, SFB_SHARED_CPU_RING);
        if (record->head.kind == SFB_RECORD_STACK || record->head.kind == SFB_RECORD_SAMPLE)
            take_sample(s->out, t, &record->sample);
        else if (record->head.kind == SFB_RECORD_NAME)
            memcpy(t->last_name, record->name.name, sizeof t->last_name);
        else
            cr_assert_eq(record->head.kind, SFB_RECORD_PAD);
        s->tail[slot] += record->head.size;
    }
    __atomic_store_n(&ring->tail, s->tail[slot], __ATOMIC_RELEASE);
}

static void end_thread(struct session *s, size_t slot, struct sfb_shared_ring *ring)
{
    struct recorded_thread *t = &s->out->thread[s->thread_of[slot] - 1];

    t->ended = ring->state == SFB_SLOT_ENDED;
    t->end = ring->end;
    t->cpu_end = ring->cpu_end;
    t->engine = ring->engine;
    memcpy(t->lost, ring->lost, sizeof t->lost);
    s->thread_of[slot] = 0;
    memset(ring, 0, offsetof(struct sfb_shared_ring, data));
}

/* @param all  the program is gone: take what lives, too */
static void turn(struct session *s, bool all)
{
    uint32_t state;

    if (s->socket >= 0)
        answer_at_socket(s);
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        struct sfb_shared_process *p = process_at(s, i);

        state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
        if (state != SFB_SLOT_LIVE && state != SFB_SLOT_ENDED)
            continue;
        if (!s->process_of[i])
            begin_process(s, i, p);
        take_modules(&s->out->process[s->process_of[i] - 1], p);
    }
    for (size_t i = 0; i < SFB_SHARED_RING_MAX; i++) {
        struct sfb_shared_ring *ring = ring_at(s, i);

        state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
        if (state != SFB_SLOT_LIVE && state != SFB_SLOT_ENDED)
            continue;
        if (!s->thread_of[i] && s->process_of[ring->process] == 0)
            continue; /* the next turn sees its process */
        if (!s->thread_of[i])
            begin_thread(s, i, ring);
        drain(s, i, ring);
        if (state == SFB_SLOT_ENDED || all)
            end_thread(s, i, ring);
    }
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++) {
        bool has_threads = false;

        state = __atomic_load_n(&process_at(s, i)->state, __ATOMIC_ACQUIRE);
        for (size_t k = 0; k < SFB_SHARED_RING_MAX; k++)
            has_threads |= s->thread_of[k] &&
                           s->out->thread[s->thread_of[k] - 1].process == s->process_of[i] - 1;
        if (s->process_of[i] && !has_threads && (all || state == SFB_SLOT_ENDED))
            end_process(s, i, process_at(s, i));
    }
}

/* --- the program ------------------------------------------------------------------------------------ */

static void set_preload(const struct record_how *how)
{
    char preload[2048];

    snprintf(preload, sizeof preload, "%s:%s:%s", how->preload ? how->preload : "",
             how->no_agent ? "" : SFB_AGENT, how->preload_behind ? how->preload_behind : "");
#ifdef SFB_EMULATED /* the emulator's own loader must not see it */
    char variable[2100];

    snprintf(variable, sizeof variable, "LD_PRELOAD=%s", preload);
    setenv("QEMU_SET_ENV", variable, 1);
#else
    setenv("LD_PRELOAD", preload, 1);
#endif
}

static pid_t begin_program(const struct session *s, const struct record_how *how, const char *words,
                           int out)
{
    struct stat beacon;
    char text[256], session[256], *list[WORDS_MAX + 1] = { (char *)(uintptr_t)SFB_RECORD_PROGRAM },
                                                    *rest = text;
    size_t count = 1;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    setpgid(0, 0); /* what it starts ends with it */
    snprintf(text, sizeof text, "%s", words);
    for (char *word; count < WORDS_MAX && (word = strsep(&rest, " "));)
        list[count++] = word;
    fstat(s->beacon_fd, &beacon);
    snprintf(session, sizeof session, "%d:%d:%d:%llx:%llx:%s:", (int)getppid(), s->fd,
             how->by_socket || how->gone ? 9999 : s->beacon_fd, (unsigned long long)beacon.st_dev,
             (unsigned long long)beacon.st_ino,
             how->gone ? "ffffffffffffffffffffffffffffffff" : key_text);
    setenv(SFB_SHARED_ENVIRONMENT, session, 1);
    set_preload(how);
    dup2(out, 1);
    execve(SFB_RECORD_PROGRAM, list, environ); /* support/emulated_exec.c sees no other call */
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

struct recorded *record(const struct record_how *how, const char *words)
{
    static const struct record_how usual;
    struct session *s = calloc(1, sizeof *s);
    int out = memfd_create("out", MFD_CLOEXEC);
    long long end = now_ms() + HANG_SECONDS * 1000LL;
    bool left = true;
    struct recorded *recorded;
    uint32_t wake = 0;
    pid_t pid;

    how = how ? how : &usual;
    s->out = recorded = calloc(1, sizeof *recorded);
    open_session(s, how);
    if (how->by_socket)
        listen_at_socket(s);
    pid = begin_program(s, how, words, out);
    cr_assert_gt(pid, 0);
    while (left) {
        struct timespec pause = { .tv_nsec = TURN_MS * 1000000L };

        syscall(SYS_futex, &s->shared->wake, FUTEX_WAIT, wake, &pause, NULL, 0);
        wake = s->shared->wake;
        if (waitpid(pid, &recorded->status, WNOHANG) == pid)
            left = false;
        if (how->look)
            how->look(s->shared);
        if (how->dies && ring_at(s, 0)->state == SFB_SLOT_LIVE)
            s->beacon->owner.holder = FUTEX_OWNER_DIED;
        if (!how->do_not_read)
            turn(s, false);
        if (left && now_ms() > end) {
            kill(-pid, SIGKILL);
            waitpid(pid, &recorded->status, 0);
            cr_assert(false, "%s: not over after %d s", words, HANG_SECONDS);
        }
    }
    turn(s, false);
    turn(s, true);
    memcpy(recorded->lost, s->shared->lost, sizeof recorded->lost);
    recorded->out = read_all(out);
    munmap(s->shared, sfb_shared_size(SFB_SHARED_CPU_RING));
    munmap(s->beacon, SFB_SHARED_PAGE);
    close(s->fd);
    close(s->beacon_fd);
    close(out);
    if (s->socket >= 0)
        close(s->socket);
    free(s);
    return recorded;
}

void recorded_free(struct recorded *r)
{
    for (size_t i = 0; i < r->process_count; i++)
        for (size_t k = 0; k < r->process[i].list_count; k++)
            free(r->process[i].list[k].map);
    for (size_t i = 0; i < r->stack_count; i++)
        free(r->stack[i].cbf);
    free(r->out);
    free(r);
}

struct recorded_sum recorded_sum(const struct recorded *r, int process)
{
    struct recorded_sum sum = { 0 };

    for (size_t i = 0; i < r->thread_count; i++) {
        const struct recorded_thread *t = &r->thread[i];

        if (process >= 0 && t->process != process)
            continue;
        sum.threads++;
        sum.samples += t->samples;
        sum.weight += t->weight;
        sum.whole += t->whole;
        if (t->cpu_end > t->cpu_start)
            sum.cpu += t->cpu_end - t->cpu_start;
        for (size_t k = 0; k < SFB_LOSS_COUNT; k++)
            sum.lost += t->lost[k];
    }
    return sum;
}
