/*
 * sfb-agent: takes every stack twice and compares.
 *
 * Preloaded into a program, it interrupts each thread 1,000 times a second, walks the interrupted
 * stack with sframe_backtrace_cbf() and with libunwind, and compares the two frame by frame: the
 * address, whether it is a pc or a return address, and how the walk ended. The report goes to the
 * file that SFB_AGENT_REPORT names, the memory map that belongs to it to the same name with ".maps"
 * behind it. Without that variable the agent does nothing.
 *
 * What runs in the handler touches only memory that was mapped at start: a sampler for each thread,
 * which the timer's signal carries as its value (so that no thread-local storage is needed, whose
 * first use allocates), and one arena for the differences.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "agent.h"
#include "sfb/cbf.h"
#include "sfb/walk.h"
#include "sframe_backtrace.h"

enum {
    SAMPLERS_MAX = 64,
    FRAMES_MAX = 2048,
    CBF_SIZE = 8192,
    ARENA_SIZE = 32 << 20,
    KINDS_MAX = 64,
    END_MAX = 128,
    PERIOD_NS = 1000000, /* 1,000 Hz */

    /*
     * The least time that a thread runs between two signals: a walk of libunwind over some hundred
     * frames takes nearly a period, and a timer that fired at once would stop all progress.
     */
    PAUSE_NS = 300000
};

/* How a walk ended, in terms that both walkers have. */
enum end { END_OUTERMOST, END_LIMIT, END_STOPPED };

struct stack {
    size_t count;
    enum end end;
    int status; /* as the walker says it */
    uint64_t address[FRAMES_MAX];
    uint8_t kind[FRAMES_MAX];
};

/* Backtraces that are worth a look in the report: the largest by some measure. */
enum keep { KEEP_DEEPEST, KEEP_MIXED, KEEP_SIGNAL, KEEP_READABLE, KEEP_COUNT };

static const char *const keep_names[KEEP_COUNT] = { "deepest", "mixed", "signal", "readable" };

struct kept {
    uint32_t measure;
    uint32_t frames;
    size_t size;
    uint8_t cbf[CBF_SIZE];
};

/* Written by its own thread only; the totals are atomic so that the end of the program may read. */
struct sampler {
    atomic_bool used;
    timer_t timer;
    struct timespec next;
    atomic_uint_least32_t burst_left;
    atomic_uint_least64_t stacks, identical, stray, frames, bytes, failed, own_ns, their_ns;
    atomic_uint_least64_t by_source[SFB_SOURCE_COUNT];
    atomic_uint_least64_t end[END_MAX];
    struct kept kept[KEEP_COUNT];
    struct stack ours, theirs;
    struct sfb_context context;
    struct sfb_walker walker;
    unw_cursor_t cursor;
    uint8_t cbf[CBF_SIZE];
    uint8_t their_cbf[CBF_SIZE];
};

struct difference {
    struct difference *next;
    atomic_bool complete;
    uint32_t first; /* index of the first frame that differs */
    uint32_t our_count, their_count;
    int our_status, their_status;
    bool walker_agrees; /* the second walk, taken for the sources, gave the same addresses */
    uint8_t source;     /* who found our frame `first`, or SFB_SOURCE_COUNT: there is none */
    uint8_t missed[SFB_SOURCE_COUNT];
    uint64_t parting; /* lookup address of the last common frame that is in a module */
    uint32_t strays;  /* common frames behind it, which are in none */
    struct sfb_context context;
    size_t our_size, their_size;
    uint8_t cbf[]; /* ours, then theirs */
};

static struct sampler *samplers;
static uint8_t *arena;
static atomic_size_t arena_used;
static atomic_uint_least64_t unrecorded; /* differences for which the arena had no room */
static const char *report_path;
static uint64_t spoil; /* see spoil_stack() */
static uint32_t burst; /* see on_trap() */

/* In the static TLS block, which needs no allocation: on_trap() has no other way to it. */
static _Thread_local struct sampler *own_sampler __attribute__((tls_model("initial-exec")));

static int (*unwind_init)(unw_cursor_t *, unw_context_t *, int);
static int (*unwind_step)(unw_cursor_t *);
static int (*unwind_get_reg)(unw_cursor_t *, int, unw_word_t *);
static int (*unwind_name)(unw_cursor_t *, char *, size_t, unw_word_t *);

/* Where the kernel lets every handler return to; see find_trampoline(). */
static uint64_t trampoline;
enum { TRAMPOLINE_SYSCALL = 7 }; /* mov $15,%rax is that long, the syscall is behind it */

static void add(atomic_uint_least64_t *total, uint64_t n)
{
    atomic_store_explicit(total, atomic_load_explicit(total, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000U),
                              .tv_nsec = (long)(ns % 1000000000U) };
}

static enum end own_end(enum sfb_status status)
{
    if (status == SFB_END)
        return END_OUTERMOST;
    return status == SFB_FRAME_LIMIT || status == SFB_BUFFER_FULL ? END_LIMIT : END_STOPPED;
}

/*
 * Reads our backtrace as any user would, from its bytes: an encoder that lost a frame or the
 * difference between pc and ra is found here, too.
 */
static bool decode(struct stack *out, const uint8_t *cbf, size_t size, enum sfb_status end)
{
    struct sfb_cbf_decoder_options options = { .size = sizeof options, .flags = SFB_CBF_EXPAND };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status;

    out->count = 0;
    if (sfb_cbf_decoder_init(&decoder, cbf, size, &options, NULL) != SFB_OK)
        return false;
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        if (out->count == FRAMES_MAX)
            return false;
        out->address[out->count] = item.value;
        out->kind[out->count++] = (uint8_t)item.kind;
    }
    out->status = (int)end;
    out->end = own_end(end);
    /* The last byte has to say the same as the info struct. */
    return status == SFB_END && sfb_cbf_decoder_truncated(&decoder) == (end != SFB_END) &&
           sfb_cbf_decoder_consumed(&decoder) == size;
}

/*
 * The oracle. unw_step() and not unw_backtrace(), whose trace cache takes short cuts.
 *
 * unw_is_signal_frame() would be the question to ask of a trampoline, but it answers no whenever
 * unw_step() got to the frame by .eh_frame, as it does in glibc, whose trampoline has one
 * (libunwind 1.6.2 sets the answer in its fallback alone). So the trampoline is told by its
 * address.
 */
static void walk_libunwind(struct stack *out, unw_cursor_t *cursor, ucontext_t *uc)
{
    bool interrupted = true;
    int status;

    out->count = 0;
    status = unwind_init(cursor, (unw_context_t *)uc, UNW_INIT_SIGNAL_FRAME);
    while (status >= 0) {
        unw_word_t ip = 0;

        if (out->count == FRAMES_MAX) {
            out->end = END_LIMIT;
            out->status = 1;
            return;
        }
        unwind_get_reg(cursor, UNW_REG_IP, &ip);
        out->address[out->count] = ip;
        out->kind[out->count++] = (uint8_t)(interrupted ? SFB_FRAME_PC : SFB_FRAME_RA);
        /* It may have been interrupted itself, between its two instructions. */
        interrupted = ip == trampoline || ip == trampoline + TRAMPOLINE_SYSCALL;
        status = unwind_step(cursor);
        if (status <= 0)
            break;
    }
    out->end = status == 0 ? END_OUTERMOST : END_STOPPED;
    out->status = status;
}

/*
 * Shows that a difference does not go unseen: with SFB_AGENT_SPOIL=N every Nth stack of the oracle
 * is changed, in turn in an address, in a kind, in its length and in its end.
 */
static void spoil_stack(struct stack *stack, uint64_t number)
{
    size_t middle = stack->count / 2;

    if (spoil == 0 || number % spoil != 0)
        return;
    switch (number / spoil % 4) {
    case 0: stack->address[middle]++; break;
    case 1: stack->kind[middle] ^= SFB_FRAME_RA; break;
    case 2: stack->count--; break;
    default: stack->end = END_STOPPED; break;
    }
}

static size_t first_difference(const struct stack *a, const struct stack *b)
{
    size_t i = 0;

    while (i < a->count && i < b->count && a->address[i] == b->address[i] &&
           a->kind[i] == b->kind[i])
        i++;
    return i;
}

static uint64_t lookup_address(const struct stack *stack, size_t i)
{
    return stack->address[i] - (stack->kind[i] == SFB_FRAME_RA);
}

/* Safe in a handler: it takes no lock. */
static bool in_module(uint64_t address)
{
    struct dl_find_object found;

    return _dl_find_object((void *)(uintptr_t)address, &found) == 0; // NOLINT: an address
}

static size_t encode(uint8_t *buffer, size_t size, const struct stack *stack)
{
    struct sfb_cbf_encoder encoder;

    if (sfb_cbf_encoder_init(&encoder, buffer, size, 64) != SFB_OK)
        return 0;
    for (size_t i = 0; i < stack->count; i++) {
        if (sfb_cbf_encoder_put(&encoder, (enum sfb_frame_kind)stack->kind[i], stack->address[i]) !=
            SFB_OK)
            return sfb_cbf_encoder_end(&encoder, true);
    }
    return sfb_cbf_encoder_end(&encoder, stack->end != END_OUTERMOST);
}

/* Walks again, by the layer that tells who found each frame. */
static void find_source(struct difference *out, struct sampler *s, const ucontext_t *uc)
{
    struct sfb_frame frame;

    out->source = SFB_SOURCE_COUNT;
    if (sfb_context_from_ucontext(&s->context, uc) != SFB_OK)
        return;
    out->context = s->context;
    if (sfb_walker_init(&s->walker, &s->context, SFB_FRAME_PC, NULL) != SFB_OK)
        return;
    out->walker_agrees = true;
    for (uint32_t i = 0; i <= out->first; i++) {
        if (sfb_walker_next(&s->walker, &frame) != SFB_OK) {
            memcpy(out->missed, s->walker.missed, sizeof out->missed);
            out->walker_agrees = i == s->ours.count;
            return;
        }
        if (i >= s->ours.count || frame.address != s->ours.address[i])
            out->walker_agrees = false;
    }
    out->source = (uint8_t)frame.source;
    memcpy(out->missed, frame.missed, sizeof out->missed);
}

static void record_difference(struct sampler *s, const ucontext_t *uc, size_t our_size)
{
    size_t their_size = encode(s->their_cbf, sizeof s->their_cbf, &s->theirs);
    size_t size = (sizeof(struct difference) + our_size + their_size + 63) & ~(size_t)63;
    size_t at = atomic_fetch_add(&arena_used, size);
    size_t first = first_difference(&s->ours, &s->theirs);
    struct difference *d;

    if (at + size > ARENA_SIZE) {
        atomic_fetch_add(&unrecorded, 1);
        return;
    }
    d = (struct difference *)(void *)(arena + at);
    d->next = (struct difference *)(void *)(arena + at + size);
    d->first = (uint32_t)first;
    d->our_count = (uint32_t)s->ours.count;
    d->their_count = (uint32_t)s->theirs.count;
    d->our_status = s->ours.status;
    d->their_status = s->theirs.status;
    while (first > 0 && !in_module(lookup_address(&s->ours, first - 1))) {
        d->strays++;
        first--;
    }
    if (first > 0)
        d->parting = lookup_address(&s->ours, first - 1);
    find_source(d, s, uc);
    d->our_size = our_size;
    d->their_size = their_size;
    memcpy(d->cbf, s->cbf, our_size);
    memcpy(d->cbf + our_size, s->their_cbf, their_size);
    atomic_store(&d->complete, true);
}

static void keep_largest(struct sampler *s, enum keep which, uint32_t measure, size_t size)
{
    struct kept *kept = &s->kept[which];

    if (measure <= kept->measure)
        return;
    kept->measure = measure;
    kept->frames = (uint32_t)s->ours.count;
    kept->size = size;
    memcpy(kept->cbf, s->cbf, size);
}

static void keep(struct sampler *s, const struct sframe_backtrace_info *info, size_t size)
{
    /* libc's start code is below every stack; what is more than that lies in the middle. */
    uint32_t inner = info->by_source[SFB_SOURCE_LIBUNWIND];
    uint32_t distance = info->frames > 26 ? info->frames - 26 : 26 - info->frames;

    keep_largest(s, KEEP_DEEPEST, info->frames, size);
    if (inner > 4 && info->by_source[SFB_SOURCE_SFRAME] > 8 && distance < 20)
        keep_largest(s, KEEP_MIXED, inner, size);
    if (distance < 20)
        keep_largest(s, KEEP_SIGNAL, info->by_source[SFB_SOURCE_SIGNAL], size);
    /* The last one of about the right depth: the first are from the start of the program. */
    if (distance < 8) {
        s->kept[KEEP_READABLE].measure = 0;
        keep_largest(s, KEEP_READABLE, 1, size);
    }
}

static void sample(struct sampler *s, ucontext_t *uc)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = uc,
                                                .max_frames = FRAMES_MAX };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint64_t start = now_ns();
    ssize_t size = sframe_backtrace_cbf(s->cbf, sizeof s->cbf, &options, &info);
    uint64_t middle = now_ns();

    walk_libunwind(&s->theirs, &s->cursor, uc);
    add(&s->their_ns, now_ns() - middle);
    add(&s->own_ns, middle - start);
    add(&s->stacks, 1);
    if (size < 0 || !decode(&s->ours, s->cbf, (size_t)size, info.end) ||
        info.frames != s->ours.count) {
        add(&s->failed, 1);
        return;
    }
    spoil_stack(&s->theirs, atomic_load_explicit(&s->stacks, memory_order_relaxed));

    add(&s->frames, s->ours.count);
    add(&s->bytes, (uint64_t)size);
    for (size_t i = 0; i < SFB_SOURCE_COUNT; i++)
        add(&s->by_source[i], info.by_source[i]);
    add(&s->end[(unsigned)info.end % END_MAX], 1);
    keep(s, &info, (size_t)size);

    /* Two walks may agree on nonsense: what is in no module is no frame of any of these programs.
     */
    for (size_t i = 0; i < s->ours.count; i++) {
        if (!in_module(lookup_address(&s->ours, i))) {
            add(&s->stray, 1);
            break;
        }
    }
    if (s->ours.count == s->theirs.count && s->ours.end == s->theirs.end &&
        first_difference(&s->ours, &s->theirs) == s->ours.count)
        add(&s->identical, 1);
    else
        record_difference(s, uc, (size_t)size);
}

/* One shot at a time, so that the pause can be kept; timer_settime() is safe in a handler. */
static void arm(struct sampler *s)
{
    struct itimerspec when = { 0 };
    uint64_t next = (uint64_t)s->next.tv_sec * 1000000000U + (uint64_t)s->next.tv_nsec;
    uint64_t earliest = now_ns() + PAUSE_NS;

    next += PERIOD_NS;
    if (next < earliest)
        next = earliest;
    s->next = timespec_of(next);
    when.it_value = s->next;
    timer_settime(s->timer, TIMER_ABSTIME, &when, NULL);
}

enum { TRAP_FLAG = 0x100 }; /* of rflags: SIGTRAP after the next instruction */

/*
 * All signals are blocked in here (sa_mask), and each thread has a timer and a sampler of its own:
 * nothing of it can be entered twice.
 */
static void on_prof(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct sampler *s = info->si_value.sival_ptr;
    ucontext_t *uc = context;

    (void)signo;
    if (info->si_code == SI_TIMER && s && atomic_load(&s->used)) {
        sample(s, uc);
        atomic_store(&s->burst_left, burst);
        if (burst > 0)
            uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
        else
            arm(s);
    }
    errno = saved_errno;
}

/*
 * With SFB_AGENT_BURST=N the N instructions behind each sample are stepped one by one and sampled,
 * too: a timer alone hardly ever finds the few instructions around calls, in prologues and in PLT
 * stubs where a table's rows change. Not for programs that block all signals now and then, as
 * pthread_create() does: a SIGTRAP that is blocked kills.
 */
static void on_trap(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct sampler *s = own_sampler;
    ucontext_t *uc = context;

    (void)signo;
    (void)info;
    if (s && atomic_load(&s->burst_left) > 0) {
        sample(s, uc);
        if (atomic_fetch_sub(&s->burst_left, 1) > 1) {
            errno = saved_errno;
            return;
        }
        arm(s);
    }
    uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    errno = saved_errno;
}

void sfb_agent_thread_start(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };

    if (!samplers || own_sampler)
        return;
    for (size_t i = 0; i < SAMPLERS_MAX; i++) {
        struct sampler *s = &samplers[i];
        bool expected = false;

        if (!atomic_compare_exchange_strong(&s->used, &expected, true))
            continue;
        event.sigev_value.sival_ptr = s;
        /* glibc 2.36 has no public name for the member that the kernel calls so. */
        event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
        if (timer_create(CLOCK_MONOTONIC, &event, &s->timer) != 0) {
            perror("sfb-agent: timer_create");
            abort();
        }
        own_sampler = s;
        s->next = timespec_of(now_ns());
        arm(s);
        return;
    }
    fprintf(stderr, "sfb-agent: more than %d threads\n", SAMPLERS_MAX);
}

/* The sampler keeps its totals and is not used again: a signal may still be under way. */
void sfb_agent_thread_stop(void)
{
    sigset_t block, old;

    if (!own_sampler)
        return;
    atomic_store(&own_sampler->burst_left, 0);
    sigemptyset(&block);
    sigaddset(&block, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &block, &old); /* or the handler would arm a timer that is gone */
    timer_delete(own_sampler->timer);
    own_sampler = NULL;
    while (sigtimedwait(&block, NULL, &(struct timespec){ 0 }) == SIGPROF)
        ;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/*
 * By dlopen() and local, because libunwind exports _Unwind_* and backtrace, which would replace
 * those of libgcc and glibc in the program that is sampled.
 */
static bool load_libunwind(void)
{
    void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    static const char prefix[] = "_ULx86_64_";
    static const char *const names[] = { "init_local2", "step", "get_reg", "get_proc_name" };
    void *address[4];
    ucontext_t uc;
    static struct stack warm_up;
    static unw_cursor_t cursor;

    if (!lib)
        return false;
    for (size_t i = 0; i < 4; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        address[i] = dlsym(lib, name);
        if (!address[i])
            return false;
    }
    /* Copied as bytes: ISO C has no conversion between pointers to objects and to functions. */
    memcpy(&unwind_init, &address[0], sizeof address[0]);
    memcpy(&unwind_step, &address[1], sizeof address[1]);
    memcpy(&unwind_get_reg, &address[2], sizeof address[2]);
    memcpy(&unwind_name, &address[3], sizeof address[3]);

    /* Its first walk opens pipes and sets up pools: not for a handler. */
    getcontext(&uc);
    walk_libunwind(&warm_up, &cursor, &uc);
    return true;
}

/*
 * Asks the kernel for the return address that glibc gave it with our handler; it is the same for
 * all. The library under test goes by the code bytes instead, so that neither can fool the other.
 */
static bool find_trampoline(void)
{
    /* As the kernel has it, linux/arch/x86/include/uapi/asm/signal.h; glibc's struct differs. */
    struct {
        uint64_t handler, flags, restorer, mask;
    } action = { 0 };

    if (syscall(SYS_rt_sigaction, SIGPROF, NULL, &action, sizeof action.mask) != 0)
        return false;
    trampoline = action.restorer;
    return trampoline != 0;
}

static void *map_memory(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

__attribute__((constructor)) static void agent_start(void)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigaction trap = { .sa_flags = SA_SIGINFO | SA_RESTART };
    const char *spoil_text = getenv("SFB_AGENT_SPOIL");
    const char *burst_text = getenv("SFB_AGENT_BURST");

    report_path = getenv("SFB_AGENT_REPORT");
    if (!report_path)
        return;
    if (spoil_text)
        spoil = strtoul(spoil_text, NULL, 10);
    if (burst_text)
        burst = (uint32_t)strtoul(burst_text, NULL, 10);
    arena = map_memory(ARENA_SIZE);
    samplers = map_memory(sizeof *samplers * SAMPLERS_MAX);
    if (!arena || !samplers || !load_libunwind()) {
        fprintf(stderr, "sfb-agent: no memory, or no libunwind.so.8\n");
        exit(2);
    }
    action.sa_sigaction = on_prof;
    sigfillset(&action.sa_mask);
    trap.sa_sigaction = on_trap;
    sigfillset(&trap.sa_mask);
    if ((burst > 0 && sigaction(SIGTRAP, &trap, NULL) != 0) ||
        sigaction(SIGPROF, &action, NULL) != 0 || !find_trampoline()) {
        perror("sfb-agent: sigaction");
        exit(2);
    }
    sfb_agent_thread_start();
}

/* ---- the report, written at exit ------------------------------------------------------------ */

/*
 * The function at an address, also a local one: libunwind reads .symtab, dladdr() does not. It
 * names the function of a frame, so it is given one that stands there.
 */
static void name_of(char *out, size_t size, uint64_t address)
{
    ucontext_t uc;
    unw_cursor_t cursor;
    unw_word_t offset;
    Dl_info info;
    const char *module = "no module";
    char function[128] = "?";

    if (dladdr((void *)(uintptr_t)address, &info) && info.dli_fname) { // NOLINT: an address
        module = strrchr(info.dli_fname, '/');
        module = module ? module + 1 : info.dli_fname;
    }
    getcontext(&uc);
    uc.uc_mcontext.gregs[REG_RIP] = (greg_t)address;
    if (unwind_init(&cursor, (unw_context_t *)&uc, UNW_INIT_SIGNAL_FRAME) != 0 ||
        unwind_name(&cursor, function, sizeof function, &offset) != 0)
        snprintf(function, sizeof function, "?");
    snprintf(out, size, "%s:%s", *module ? module : "program", function);
}

static const char *const source_names[SFB_SOURCE_COUNT + 1] = { "start", "sframe", "signal",
                                                                "libunwind", "none" };

static void print_hex(FILE *f, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(f, "%02x", data[i]);
    fputc('\n', f);
}

struct kind {
    char text[512];
    uint64_t count;
    const struct difference *example;
};

static void describe(char *out, size_t size, const struct difference *d)
{
    char where[256] = "first frame";

    if (d->parting)
        name_of(where, sizeof where, d->parting);
    if (d->strays > 0)
        snprintf(where + strlen(where), sizeof where - strlen(where), " and %u in no module",
                 d->strays);
    snprintf(out, size, "parted after %s; our next frame from: %s; longer: %s; ours ended: %s",
             where, source_names[d->source <= SFB_SOURCE_COUNT ? d->source : SFB_SOURCE_COUNT],
             d->our_count == d->their_count  ? "neither"
             : d->our_count > d->their_count ? "ours"
                                             : "libunwind",
             sfb_status_str((enum sfb_status)d->our_status));
}

static void print_differences(FILE *f)
{
    static struct kind kinds[KINDS_MAX];
    size_t count = 0;
    size_t used = atomic_load(&arena_used);
    const struct difference *d = (const struct difference *)(const void *)arena;
    char text[sizeof kinds->text];

    for (; (const uint8_t *)d < arena + used && atomic_load(&d->complete); d = d->next) {
        size_t k = 0;

        describe(text, sizeof text, d);
        while (k < count && strcmp(kinds[k].text, text) != 0)
            k++;
        if (k == KINDS_MAX) {
            atomic_fetch_add(&unrecorded, 1);
            continue;
        }
        if (k == count) {
            memcpy(kinds[k].text, text, sizeof text);
            kinds[k].example = d;
            count++;
        }
        kinds[k].count++;
    }
    for (size_t k = 0; k < count; k++) {
        d = kinds[k].example;
        fprintf(f, "difference %llu %s\n", (unsigned long long)kinds[k].count, kinds[k].text);
        fprintf(f, "example-first %u\n", d->first);
        fprintf(f, "example-ends %s / unw_step %d\n",
                sfb_status_str((enum sfb_status)d->our_status), d->their_status);
        fprintf(f, "example-missed");
        for (size_t i = 0; i < SFB_SOURCE_COUNT; i++)
            fprintf(f, " %s: %s;", source_names[i], sfb_status_str((enum sfb_status)d->missed[i]));
        fprintf(f, " second walk %s\n", d->walker_agrees ? "agrees" : "DIFFERS");
        fprintf(f, "example-registers");
        for (size_t i = 0; i < SFB_CONTEXT_REGS; i++)
            fprintf(f, " %llx", (unsigned long long)d->context.reg[i]);
        fprintf(f, "\nexample-ours ");
        print_hex(f, d->cbf, d->our_size);
        fprintf(f, "example-theirs ");
        print_hex(f, d->cbf + d->our_size, d->their_size);
    }
    fprintf(f, "unrecorded %llu\n", (unsigned long long)atomic_load(&unrecorded));
}

/* Sums one total over all samplers. */
static unsigned long long total(size_t offset)
{
    unsigned long long sum = 0;

    for (size_t i = 0; i < SAMPLERS_MAX; i++) {
        const uint8_t *at = (const uint8_t *)&samplers[i] + offset;

        sum += atomic_load((const atomic_uint_least64_t *)(const void *)at);
    }
    return sum;
}

static void print_kept(FILE *f)
{
    for (size_t which = 0; which < KEEP_COUNT; which++) {
        const struct kept *best = NULL;

        for (size_t i = 0; i < SAMPLERS_MAX; i++) {
            const struct kept *kept = &samplers[i].kept[which];

            if (kept->size && (!best || kept->measure > best->measure))
                best = kept;
        }
        if (best) {
            fprintf(f, "stack %s %u ", keep_names[which], best->frames);
            print_hex(f, best->cbf, best->size);
        }
    }
}

static bool copy_maps(void)
{
    char path[4096];
    char buffer[4096];
    FILE *in = fopen("/proc/self/maps", "re");
    FILE *out;
    size_t n;

    snprintf(path, sizeof path, "%s.maps", report_path);
    out = fopen(path, "we");
    if (!in || !out)
        return false;
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, n, out);
    fclose(in);
    return fclose(out) == 0;
}

__attribute__((destructor)) static void agent_finish(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } totals[] = {
        { "stacks", offsetof(struct sampler, stacks) },
        { "identical", offsetof(struct sampler, identical) },
        { "stray", offsetof(struct sampler, stray) },
        { "frames", offsetof(struct sampler, frames) },
        { "bytes", offsetof(struct sampler, bytes) },
        { "failed", offsetof(struct sampler, failed) },
        { "own-ns", offsetof(struct sampler, own_ns) },
        { "libunwind-ns", offsetof(struct sampler, their_ns) },
    };
    FILE *f;

    if (!samplers)
        return;
    sfb_agent_thread_stop();
    f = fopen(report_path, "we");
    if (!f || !copy_maps()) {
        perror(report_path);
        _exit(2);
    }
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        fprintf(f, "%s %llu\n", totals[i].name, total(totals[i].offset));
    for (size_t i = 0; i < SFB_SOURCE_COUNT; i++)
        fprintf(f, "source %s %llu\n", source_names[i],
                total(offsetof(struct sampler, by_source) + i * sizeof samplers->by_source[0]));
    for (size_t i = 0; i < END_MAX; i++) {
        unsigned long long n = total(offsetof(struct sampler, end) + i * sizeof samplers->end[0]);

        if (n)
            fprintf(f, "end %llu %s\n", n, sfb_status_str((enum sfb_status)i));
    }
    print_kept(f);
    print_differences(f);
    fclose(f);
}
