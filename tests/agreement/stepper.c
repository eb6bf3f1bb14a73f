/*
 * sfb-stepper: preloaded into a program, it takes a stack every so many instructions, by the trap
 * flag, or so many times a second, by SIGPROF, and has it walked by this library, by libunwind and
 * by libgcc, from the same registers.
 *
 *     SFB_AGENT_REPORT=FILE     where the report goes, with ".PID" behind it; without it the
 * stepper does nothing SFB_AGENT_STEP=N[,MAX]    a stack each N instructions of each thread, MAX at
 * most SFB_AGENT_PERIOD=US[,MAX] or each so many microseconds of each thread SFB_AGENT_ORACLE=none
 * nobody else walks SFB_AGENT_SPOIL=N         each N-th stack of the oracles is changed: a check of
 * the check
 *
 * All threads are stepped that pthread_create() makes. Not stepped: children of fork(), until they
 * start another program, which is stepped from its beginning and has a report of its own; and
 * handlers, for which the kernel clears the trap flag, unless they call sfb_step_here().
 *
 * The handler takes what stack it finds, no alternate one: some 10 KiB with those of the oracles
 * and the kernel's frame. Whatever else it writes was mapped at start.
 */
#include "stepper.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracles/machine.h"

struct stepper *stepper_all;
struct difference *differences;
atomic_size_t differences_used;
const struct oracle *oracles[2];
uint64_t spoil;
const char *report_path;
int report_pid;

static uint32_t step_every; /* instructions, 0: not stepped */
static uint32_t period_us;  /* or microseconds */
static clockid_t period_clock = CLOCK_MONOTONIC;
static uint64_t stacks_most; /* of all threads */
static atomic_uint_least64_t stacks_taken;

/* In the static TLS block, which needs no allocation: on_trap() has no other way to it. */
static _Thread_local struct stepper *own __attribute__((tls_model("initial-exec")));

/* Another one may be taken. */
static bool take(void)
{
    return atomic_fetch_add_explicit(&stacks_taken, 1, memory_order_relaxed) < stacks_most;
}

/*
 * All signals but faults are blocked in here. raise(SIGTRAP) turns the stepping on: the flag has to
 * be in the registers that the handler returns to.
 */
static void on_trap(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct stepper *s = own;
    ucontext_t *uc = context;

    (void)signo;
    (void)info;
    if (!s || !atomic_load(&s->on) || guard_is_child(s, uc)) {
        machine_step(uc, false);
        errno = saved_errno;
        return;
    }
    machine_step(uc, true);
    if (--s->countdown == 0) {
        s->countdown = step_every;
        if (take()) {
            judge(s, uc);
        } else {
            atomic_store(&s->on, false);
            machine_step(uc, false);
        }
    }
    guard_next_instruction(s, uc);
    errno = saved_errno;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* One shot at a time, and the thread runs for as long as the last walks took, or nothing would go
 * on where walks take longer than the period. */
static void arm(struct stepper *s, uint64_t start)
{
    uint64_t now = now_ns(), wait = (uint64_t)period_us * 1000U;
    struct itimerspec when = { 0 };

    if (wait < now - start)
        wait = now - start;
    when.it_value.tv_sec = (time_t)(wait / 1000000000U);
    when.it_value.tv_nsec = (long)(wait % 1000000000U);
    timer_settime(s->timer, 0, &when, NULL);
}

static void on_prof(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uint64_t start = now_ns();
    struct stepper *s = info->si_value.sival_ptr;

    (void)signo;
    if (info->si_code == SI_TIMER && s && atomic_load(&s->on) && take()) {
        judge(s, context);
        arm(s, start);
    }
    errno = saved_errno;
}

/* One that is not an oracle's is the program's, and happens anew. */
static void on_fault(int signo)
{
    oracle_fault(own ? &own->oracle : NULL);
    guard_give_back(signo);
}

void sfb_step_here(void)
{
    if (own && step_every > 0 && atomic_load(&own->on))
        raise(SIGTRAP);
}

static void start_timer(struct stepper *s)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };

    event.sigev_value.sival_ptr = s;
    /* glibc 2.36 has no public name for the member that the kernel calls so. */
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(period_clock, &event, &s->timer) != 0) {
        perror("sfb-stepper: timer_create");
        abort();
    }
    arm(s, now_ns());
}

static void start_thread(void)
{
    if (!stepper_all || own)
        return;
    for (size_t i = 0; i < THREADS_MAX; i++) {
        struct stepper *s = &stepper_all[i];
        bool expected = false;

        /* Not used again when its thread ends: a signal may still be under way. */
        if (!atomic_compare_exchange_strong(&s->used, &expected, true))
            continue;
        s->countdown = step_every;
        own = s;
        atomic_store(&s->on, true);
        if (period_us > 0)
            start_timer(s);
        else
            raise(SIGTRAP);
        return;
    }
}

static void stop_thread(void *unused)
{
    struct stepper *s = own;

    (void)unused;
    if (!s)
        return;
    atomic_store(&s->on, false); /* the next trap ends it */
    if (period_us > 0)
        timer_delete(s->timer);
}

/* --- Threads ---------------------------------------------------------------------------------- */

struct start {
    void *(*function)(void *);
    void *argument;
};

static void *run_thread(void *argument)
{
    struct start start = *(struct start *)argument;
    void *result;

    free(argument);
    start_thread();
    pthread_cleanup_push(stop_thread, NULL);
    result = start.function(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*function)(void *), void *argument)
{
    static __typeof__(pthread_create) *real;
    struct start *start = malloc(sizeof *start);
    int error;

    if (!real && !oracle_bind(RTLD_NEXT, &real, "pthread_create"))
        abort();
    if (!start)
        return EAGAIN;
    *start = (struct start){ .function = function, .argument = argument };
    error = real(thread, attributes, run_thread, start);
    if (error != 0)
        free(start);
    return error;
}

/* --- Modules ---------------------------------------------------------------------------------- */

/* The program headers of a module, without any lock. */
static struct dl_phdr_info describe_module(const struct link_map *map)
{
    struct dl_phdr_info info = { .dlpi_addr = map->l_addr, .dlpi_name = map->l_name };
    /* Where libraries are linked to 0, as all are, this is their first byte. */
    const ElfW(Ehdr) *header = (const void *)map->l_addr; // NOLINT: an address

    if (map == _r_debug.r_map) {                           /* the program */
        info.dlpi_phdr = (const void *)getauxval(AT_PHDR); // NOLINT: an address
        info.dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM);
    } else {
        info.dlpi_phdr = (const void *)(map->l_addr + header->e_phoff); // NOLINT: an address
        info.dlpi_phnum = header->e_phnum;
    }
    return info;
}

/*
 * libunwind asks here for modules, and the real function takes the loader's lock: for ever, if a
 * step ends within the loader's own taking of it. So an oracle is shown the list as it is.
 */
__attribute__((visibility("default"))) int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *,
                                                                           size_t, void *),
                                                           void *data)
{
    static __typeof__(dl_iterate_phdr) *real;
    struct dl_phdr_info info;
    int result = 0;

    if (!own || !own->oracle.in_oracle) {
        if (!real && !oracle_bind(RTLD_NEXT, &real, "dl_iterate_phdr"))
            abort();
        return real(callback, data);
    }
    for (const struct link_map *map = _r_debug.r_map; map && result == 0; map = map->l_next) {
        info = describe_module(map);
        result = callback(&info, offsetof(struct dl_phdr_info, dlpi_adds), data);
    }
    return result;
}

/* --- Start ------------------------------------------------------------------------------------ */

static void *map_memory(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void fail(const char *what)
{
    fprintf(stderr, "sfb-stepper: %s\n", what);
    _exit(2);
}

/* "N" or "N,MAX" */
static uint32_t read_rate(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    stacks_most = *end == ',' ? strtoull(end + 1, NULL, 10) : UINT64_MAX;
    if (n == 0 || n > UINT32_MAX)
        fail("not a number: SFB_AGENT_STEP, or SFB_AGENT_PERIOD");
    return (uint32_t)n;
}

static void install(int signo, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

    action.sa_sigaction = handler;
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    if (sigaction(signo, &action, NULL) != 0)
        fail("sigaction()");
}

__attribute__((constructor)) static void start_stepper(void)
{
    struct sigaction fault = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
    const char *step = getenv("SFB_AGENT_STEP");
    const char *period = getenv("SFB_AGENT_PERIOD");
    const char *oracle = getenv("SFB_AGENT_ORACLE");
    const char *clock = getenv("SFB_AGENT_CLOCK");
    const char *spoil_text = getenv("SFB_AGENT_SPOIL");

    report_path = getenv("SFB_AGENT_REPORT");
    if (!report_path || (!step && !period))
        return;
    report_pid = (int)getpid();
    if (step)
        step_every = read_rate(step);
    else
        period_us = read_rate(period);
    if (clock && strcmp(clock, "cpu") == 0)
        period_clock = CLOCK_THREAD_CPUTIME_ID;
    if (step && !machine_can_step)
        fail("nothing can step itself on this machine");
    if (spoil_text)
        spoil = strtoul(spoil_text, NULL, 10);
    if (!oracle_load("libunwind"))
        fail("no libunwind");
    if (!oracle || strcmp(oracle, "none") != 0) {
        oracles[0] = oracle_load("libunwind");
        oracles[1] = oracle_load("libgcc");
        if (!oracles[1])
            fail("no libgcc_s");
    }
    differences = map_memory(ARENA_SIZE);
    stepper_all = map_memory(sizeof *stepper_all * THREADS_MAX);
    if (!differences || !stepper_all)
        fail("no memory");
    if (oracles[0]) { /* without oracles nothing here faults, and the program's handlers stay */
        sigemptyset(&fault.sa_mask);
        if (sigaction(SIGSEGV, &fault, NULL) != 0 || sigaction(SIGBUS, &fault, NULL) != 0)
            fail("sigaction()");
    }
    if (step_every > 0)
        install(SIGTRAP, on_trap);
    else
        install(SIGPROF, on_prof);
    start_thread();
}
