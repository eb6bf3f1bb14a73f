/*
 * sfb-sampler: takes every stack twice and compares.
 *
 * Preloaded into a program, it interrupts each thread 1,000 times a second, walks the interrupted
 * stack with sframe_backtrace_cbf() and with an oracle (libunwind, or what SFB_AGENT_ORACLE names:
 * see oracle.c), and compares the two frame by frame: the address, whether it is a pc or a return
 * address, and how the walk ended. The report goes to the file that SFB_AGENT_REPORT names, the
 * memory map that belongs to it to the same name with ".maps" behind it. Without that variable the
 * sampler does nothing.
 *
 * What runs in the handler touches only memory that was mapped at start: a sampler for each thread,
 * which the timer's signal carries as its value (so that no thread-local storage is needed, whose
 * first use allocates), and one arena for the differences.
 */
#include "threads.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracles/loaded.h"
#include "oracles/machine.h"
#include "sampler.h"

enum {
    PERIOD_NS = 1000000, /* 1,000 Hz */

    /*
     * The least time that a thread runs between two signals, if the walks before took less: those
     * of libunwind over some hundred frames take nearly a period, under an emulator even a few of
     * them do, and a timer that fired at once would stop all progress.
     */
    PAUSE_NS = 300000
};

struct sampler *samplers_all;
uint8_t *sampler_arena;
atomic_size_t sampler_arena_used;
atomic_uint_least64_t sampler_unrecorded;
uint64_t sampler_spoil;
const char *sampler_report_path;
const struct oracle *sampler_oracle;

static uint32_t burst; /* see on_trap() */

/* In the static TLS block, which needs no allocation: on_trap() has no other way to it. */
static _Thread_local struct sampler *own_sampler __attribute__((tls_model("initial-exec")));

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000U),
                              .tv_nsec = (long)(ns % 1000000000U) };
}

/*
 * One shot at a time, so that the pause can be kept; timer_settime() is safe in a handler.
 *
 * @param start  when the handler began
 */
static void arm(struct sampler *s, uint64_t start)
{
    struct itimerspec when = { 0 };
    uint64_t next = (uint64_t)s->next.tv_sec * 1000000000U + (uint64_t)s->next.tv_nsec;
    uint64_t now = now_ns();
    uint64_t earliest = now + (now - start > PAUSE_NS ? now - start : PAUSE_NS);

    next += PERIOD_NS;
    if (next < earliest)
        next = earliest;
    s->next = timespec_of(next);
    when.it_value = s->next;
    timer_settime(s->timer, TIMER_ABSTIME, &when, NULL);
}

/*
 * All signals but faults are blocked in here (sa_mask), and each thread has a timer and a sampler
 * of its own: nothing of it can be entered twice.
 */
static void on_prof(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uint64_t start = now_ns();
    struct sampler *s = info->si_value.sival_ptr;
    ucontext_t *uc = context;

    (void)signo;
    if (info->si_code == SI_TIMER && s && atomic_load(&s->used)) {
        compare_sample(s, uc);
        atomic_store(&s->burst_left, burst);
        if (burst > 0)
            machine_step(uc, true);
        else
            arm(s, start);
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
    uint64_t start = now_ns();
    struct sampler *s = own_sampler;
    ucontext_t *uc = context;

    (void)signo;
    (void)info;
    if (s && atomic_load(&s->burst_left) > 0) {
        compare_sample(s, uc);
        if (atomic_fetch_sub(&s->burst_left, 1) > 1) {
            errno = saved_errno;
            return;
        }
        arm(s, start);
    }
    machine_step(uc, false);
    errno = saved_errno;
}

/* A fault that is not the oracle's happens anew, and ends the program. */
static void on_fault(int signo)
{
    oracle_fault(own_sampler ? &own_sampler->oracle : NULL);
    signal(signo, SIG_DFL);
}

void sfb_sampler_thread_start(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };

    if (!samplers_all || own_sampler)
        return;
    for (size_t i = 0; i < SAMPLERS_MAX; i++) {
        struct sampler *s = &samplers_all[i];
        bool expected = false;

        if (!atomic_compare_exchange_strong(&s->used, &expected, true))
            continue;
        event.sigev_value.sival_ptr = s;
        /* glibc 2.36 has no public name for the member that the kernel calls so. */
        event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
        if (timer_create(CLOCK_MONOTONIC, &event, &s->timer) != 0) {
            perror("sfb-sampler: timer_create");
            abort();
        }
        own_sampler = s;
        s->next = timespec_of(now_ns());
        arm(s, now_ns());
        return;
    }
    fprintf(stderr, "sfb-sampler: more than %d threads\n", SAMPLERS_MAX);
}

/* The sampler keeps its totals and is not used again: a signal may still be under way. */
void sfb_sampler_thread_stop(void)
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

static void *map_memory(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

__attribute__((constructor)) static void start(void)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigaction trap = { .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigaction fault = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
    const char *spoil_text = getenv("SFB_AGENT_SPOIL");
    const char *burst_text = getenv("SFB_AGENT_BURST");
    const char *oracle_text = getenv("SFB_AGENT_ORACLE");

    sampler_report_path = getenv("SFB_AGENT_REPORT");
    if (!sampler_report_path)
        return;
    if (spoil_text)
        sampler_spoil = strtoul(spoil_text, NULL, 10);
    if (burst_text)
        burst = (uint32_t)strtoul(burst_text, NULL, 10);
    sampler_oracle = oracle_load(oracle_text ? oracle_text : "libunwind");
    sampler_arena = map_memory(ARENA_SIZE);
    samplers_all = map_memory(sizeof *samplers_all * SAMPLERS_MAX);
    if (!sampler_arena || !samplers_all || !sampler_oracle) {
        fprintf(stderr, "sfb-sampler: no memory, or no such oracle\n");
        exit(2);
    }
    if (burst > 0 && !machine_can_step) {
        fprintf(stderr, "sfb-sampler: nothing can step itself on this machine\n");
        exit(2);
    }
    action.sa_sigaction = on_prof;
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    trap.sa_sigaction = on_trap;
    trap.sa_mask = action.sa_mask;
    sigemptyset(&fault.sa_mask);
    if (sigaction(SIGSEGV, &fault, NULL) != 0 || sigaction(SIGBUS, &fault, NULL) != 0 ||
        (burst > 0 && sigaction(SIGTRAP, &trap, NULL) != 0) ||
        sigaction(SIGPROF, &action, NULL) != 0) {
        perror("sfb-sampler: sigaction");
        exit(2);
    }
    sfb_sampler_thread_start();
}
