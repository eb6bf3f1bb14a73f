/*
 * sfb-stepper: preloaded into a program, it takes a stack every so many instructions, by the trap
 * flag, or so many times a second, by SIGPROF, and has it walked by this library, by libunwind and
 * by libgcc, from the same registers.
 *
 *     SFB_AGENT_REPORT=FILE      where the report goes, with ".PID" behind it; without it the
 *                                stepper does nothing
 *     SFB_AGENT_STEP=N[,MAX]     a stack each N instructions of each thread, MAX at most
 *     SFB_AGENT_PERIOD=US[,MAX]  or each so many microseconds of each thread
 *     SFB_AGENT_BURST=N,MAX      both: each period begins a burst of N instructions, judged by a
 *                                shadow stack. After MAX bursts, or the MAX of SFB_AGENT_STEP,
 *                                the report is written, and the program ends. See shadow.h.
 *     SFB_AGENT_CLOCK=cpu        periods of a thread's processor time
 *     SFB_AGENT_ORACLE=none      nobody else walks
 *     SFB_AGENT_SPOIL=N          each N-th stack of the oracles (in bursts, of ours, too) is
 *                                changed: a check of the check
 *
 * All threads are stepped that pthread_create() makes. Not stepped: children of fork(), until they
 * start another program, which is stepped from its beginning and has a report of its own; and
 * handlers, for which the kernel clears the trap flag, unless they call sfb_step_here().
 *
 * The handler takes what stack it finds, an alternate one if the program's own handler of the signal
 * asks for that: some 10 KiB with those of the oracles and the kernel's frame. In bursts it is the
 * kernel's frame and little more; the rest has a stack of its own. Whatever else the handler writes
 * was mapped at start.
 */
#include "stepper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "handlers.h"
#include "oracles/machine.h"

struct stepper *stepper_all;
struct difference *differences;
atomic_size_t differences_used;
const struct oracle *oracles[2];
uint64_t spoil;
const char *report_path;
int report_pid;

uint32_t step_every;
static uint32_t period_us; /* or microseconds */
static clockid_t period_clock = CLOCK_MONOTONIC;
static uint64_t stacks_most; /* of all threads */
static atomic_uint_least64_t stacks_taken;

/* In the static TLS block, which needs no allocation: on_trap() has no other way to it. */
static _Thread_local struct stepper *own __attribute__((tls_model("initial-exec")));

bool may_take(void)
{
    return atomic_fetch_add_explicit(&stacks_taken, 1, memory_order_relaxed) < stacks_most;
}

bool more_to_take(void)
{
    return atomic_load_explicit(&stacks_taken, memory_order_relaxed) < stacks_most;
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

    if (info->si_code != TRAP_TRACE && !(info->si_code == SI_TKILL && burst_steps == 0)) {
        /* Most programs have no handler for it: then this line says what ended them. */
        dprintf(STDERR_FILENO, "sfb-stepper: SIGTRAP of code %d at %#llx, not of a step\n",
                info->si_code, (unsigned long long)machine_pc(uc));
        handlers_pass_on(signo, info, context);
        errno = saved_errno;
        return;
    }
    /* A burst that was given up in a handler of the program: here that one has returned. */
    if (!s || !atomic_load(&s->on) || guard_is_child(s, uc) || (burst_steps > 0 && s->burst == 0)) {
        machine_step(uc, false);
        errno = saved_errno;
        return;
    }
    if (burst_steps > 0) {
        burst_step(s, uc);
        errno = saved_errno;
        return;
    }
    machine_step(uc, true);
    if (--s->countdown == 0) {
        s->countdown = step_every;
        if (may_take()) {
            judge(s, uc);
        } else {
            atomic_store(&s->on, false);
            machine_step(uc, false);
        }
    }
    guard_next_instruction(s, uc);
    errno = saved_errno;
}

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* One shot at a time, and the thread runs for as long as the last walks took, or nothing would go
 * on where walks take longer than the period. */
void arm_timer(struct stepper *s, uint64_t start)
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

    if (info->si_code != SI_TIMER || !s || s != own) {
        handlers_pass_on(signo, info, context);
    } else if (!atomic_load(&s->on)) {
        /* It was under way when its thread's stepping ended. */
    } else if (burst_steps > 0) {
        burst_start(s, context);
    } else if (may_take()) {
        judge(s, context);
        arm_timer(s, start);
    }
    errno = saved_errno;
}

/* One that is not an oracle's is the program's. */
static void on_fault(int signo, siginfo_t *info, void *context)
{
    oracle_fault(own ? &own->oracle : NULL);
    handlers_pass_on(signo, info, context);
}

bool is_in_oracle(void)
{
    return own && own->oracle.in_oracle;
}

void sfb_step_here(void)
{
    if (own && step_every > 0 && burst_steps == 0 && atomic_load(&own->on))
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
    arm_timer(s, now_ns());
}

void start_thread(void)
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

void stop_thread(void *unused)
{
    struct stepper *s = own;

    (void)unused;
    if (!s)
        return;
    atomic_store(&s->on, false); /* the next trap ends it */
    if (period_us > 0)
        timer_delete(s->timer);
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

static void install(int signo, void (*handler)(int, siginfo_t *, void *), int flags)
{
    if (!handlers_install(signo, handler, flags))
        fail("sigaction()");
}

/* Some programs end without exit(), or run for longer than is needed. */
static void *watch(void *unused)
{
    const struct timespec pause = { .tv_nsec = 50000000 };

    (void)unused;
    while (!bursts_are_over())
        nanosleep(&pause, NULL); /* between two looks */
    for (size_t i = 0; i < THREADS_MAX; i++)
        atomic_store(&stepper_all[i].on, false);
    /* What is under way ends. A stack that is not judged by then is in no column: nothing goes by their sum. */
    nanosleep(&pause, NULL);
    write_report();
    _exit(0);
}

static void start_watching(void)
{
    pthread_t thread;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (real_pthread_create(&thread, NULL, watch, NULL) != 0)
        fail("no thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* "STEPS,BURSTS" */
static void read_burst(const char *text)
{
    char *end;

    burst_steps = (uint32_t)strtoul(text, &end, 10);
    bursts_most = *end == ',' ? strtoull(end + 1, NULL, 10) : 0;
    if (burst_steps == 0 || bursts_most == 0 || step_every == 0 || period_us == 0)
        fail("SFB_AGENT_BURST takes two numbers, and needs SFB_AGENT_STEP and SFB_AGENT_PERIOD");
}

__attribute__((constructor)) static void start_stepper(void)
{
    const char *step = getenv("SFB_AGENT_STEP");
    const char *period = getenv("SFB_AGENT_PERIOD");
    const char *burst = getenv("SFB_AGENT_BURST");
    const char *oracle = getenv("SFB_AGENT_ORACLE");
    const char *clock = getenv("SFB_AGENT_CLOCK");
    const char *spoil_text = getenv("SFB_AGENT_SPOIL");

    report_path = getenv("SFB_AGENT_REPORT");
    if (!report_path || (!step && !period))
        return;
    report_pid = (int)getpid();
    if (!step || burst)
        period_us = read_rate(period ? period : "");
    if (step)
        step_every = read_rate(step);
    if (burst)
        read_burst(burst);
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
    truth_examples = map_memory(sizeof *truth_examples * TRUTH_EXAMPLES);
    if (!differences || !stepper_all || !truth_examples)
        fail("no memory");
    if (oracles[0]) { /* without oracles nothing here faults, and the program's handlers stay */
        install(SIGSEGV, on_fault, SA_NODEFER);
        install(SIGBUS, on_fault, SA_NODEFER);
    }
    if (step_every > 0)
        install(SIGTRAP, on_trap, SA_RESTART);
    if (period_us > 0)
        install(SIGPROF, on_prof, SA_RESTART);
    if (burst_steps > 0)
        start_watching();
    start_thread();
}
